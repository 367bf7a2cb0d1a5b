"""The alerts that OPERATIONS.md names are of metrics that METRICS.md has: one that is spelled wrong
never fires, and nobody is told."""

import re

from rules.tree import finding, line_of

ALERTS, METRICS = "docs/OPERATIONS.md", "docs/METRICS.md"
SECTION = re.compile(r"(?ms)^## Metrics and alerts\n(.*?)(?=^## |\Z)")
NAMED = re.compile(r"\b(?:skiplane|grpc_server|process)_[a-z_]+\b")
ROW = re.compile(r"(?m)^\| `([a-z_]+)` \| (\w+) \|")


def series(text):
    """The names under which each metric is read."""
    names = set()
    for name, kind in ROW.findall(text):
        ends = ("_bucket", "_count", "_sum") if kind == "histogram" else ("",)
        names.update(name + end for end in ends)
    return names


def check(files):
    section = SECTION.search(files.get(ALERTS, ""))
    if section is None:
        return []
    known = series(files.get(METRICS, ""))
    return [finding(ALERTS, line_of(files[ALERTS], section.start(1) + name.start()),
                    f"`{name.group()}` is no series of {METRICS}")
            for name in NAMED.finditer(section.group(1)) if name.group() not in known]
