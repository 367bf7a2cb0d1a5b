"""The events of the server's log are those that OPERATIONS.md explains, and the reverse."""

import re

from rules.tree import finding, line_of

DOCUMENT = "docs/OPERATIONS.md"
# The names stand before the fields: Log(level, "name", {…}), or one of two by a condition.
CALL = re.compile(r"\bLog\(([^{;]*)|\b(?:Sampled|Rare)Event \w+\(([^;]*)")
NAME = re.compile(r'"([a-z][a-z_]*)"')
SECTION = re.compile(r"(?ms)^## Logs\n(.*?)(?=^## |\Z)")
ROW = re.compile(r"(?m)^\| (`[^|]*)\|")


def in_sources(files):
    """Where each event is logged."""
    events = {}
    for path, text in files.items():
        if not (path.startswith("server/") and path.endswith(".cc")):
            continue
        for call in CALL.finditer(text):
            for name in NAME.findall(call.group(1) or call.group(2) or ""):
                events.setdefault(name, (path, line_of(text, call.start())))
    return events


def in_document(text):
    """The line of each event that is explained."""
    section = SECTION.search(text)
    if section is None:
        return {}
    return {name: line_of(text, section.start(1) + row.start())
            for row in ROW.finditer(section.group(1))
            for name in re.findall(r"`(\w+)`", row.group(1))}


def check(files):
    logged = in_sources(files)
    explained = in_document(files.get(DOCUMENT, ""))
    problems = [finding(*logged[name], f"event `{name}` is not in {DOCUMENT}")
                for name in sorted(logged.keys() - explained.keys())]
    return problems + [finding(DOCUMENT, explained[name], f"event `{name}` is logged nowhere")
                       for name in sorted(explained.keys() - logged.keys())]
