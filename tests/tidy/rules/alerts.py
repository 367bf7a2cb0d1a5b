"""The alerts that OPERATIONS.md names, the rules of Prometheus and the dashboards are of metrics
that METRICS.md has: one that is spelled wrong never fires, and nobody is told."""

import re

from rules.tree import finding, line_of

ALERTS, METRICS = "docs/OPERATIONS.md", "docs/METRICS.md"
SECTION = re.compile(r"(?ms)^## Metrics and alerts\n(.*?)(?=^## |\Z)")
SHIPPED = re.compile(r"deploy/(?:prometheus/.*\.yml|grafana/.*\.json)")
# Not the middle of what a recording rule makes, which is named after its metric.
NAMED = re.compile(r"(?<![\w:])(?:skiplane|grpc_server|process)_[a-z_]+\b(?!:)")
ROW = re.compile(r"(?m)^\| `([a-z_]+)` \| (\w+) \|")


def series(text):
    """The names under which each metric is read."""
    names = set()
    for name, kind in ROW.findall(text):
        ends = ("_bucket", "_count", "_sum") if kind == "histogram" else ("",)
        names.update(name + end for end in ends)
    return names


def check_text(path, text, begin, known):
    return [finding(path, text.count("\n", 0, name.start()) + begin,
                    f"`{name.group()}` is no series of {METRICS}")
            for name in NAMED.finditer(text) if name.group() not in known]


def check(files):
    known, problems = series(files.get(METRICS, "")), []
    section = SECTION.search(files.get(ALERTS, ""))
    if section is not None:
        begin = line_of(files[ALERTS], section.start(1))
        problems += check_text(ALERTS, section.group(1), begin, known)
    for path, text in files.items():
        if SHIPPED.fullmatch(path):
            problems += check_text(path, text, 1, known)
    return problems
