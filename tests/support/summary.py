"""Prints `N passed, N failed[, N skipped]` for the phases of a run: summary.py FOLDER...

Each folder has the name of its phase and holds `tests.xml`, a JUnit file of ctest. Any other file
in it is a report of something that went wrong, such as a sanitizer's: it is printed, and is a
failure. So is a test whose program is missing, since it was not skipped on purpose, and a phase
whose tests did not come to their end.
"""

import collections
import os
import sys
import xml.etree.ElementTree

JUNIT = "tests.xml"
LINES = 200  # of each failure


def outcome(case):
    if case.get("status") == "run":
        return "passed"
    skipped = case.find("skipped")
    on_purpose = skipped is not None and skipped.get("message", "").startswith(
        ("SKIP_RETURN_CODE", "SKIP_REGULAR_EXPRESSION")
    )
    return "skipped" if on_purpose or case.get("status") == "disabled" else "failed"


def reports(folder):
    return sorted(name for name in os.listdir(folder) if name != JUNIT)


def results(folder):
    """Pairs of outcome and name; what failed is printed."""
    for name in reports(folder):
        yield "failed", name
    try:
        root = xml.etree.ElementTree.parse(os.path.join(folder, JUNIT)).getroot()
    except (OSError, xml.etree.ElementTree.ParseError):
        if not reports(folder):
            yield "failed", "ctest did not come to its end"
        return
    for case in root.iter("testcase"):
        kind = outcome(case)
        if kind == "failed":
            print_end(folder, case.get("name"), case.findtext("system-out", ""))
        yield kind, case.get("name")


def print_end(folder, name, text):
    """What it said last, again: who has only the end of a long log is to see why, too."""
    print(f"---- {os.path.basename(folder)}: {name}")
    for line in text.rstrip().splitlines()[-LINES:]:
        print(line)


def print_reports(folder):
    for name in reports(folder):
        with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as file:
            print_end(folder, name, file.read())


def main(arguments):
    names = collections.defaultdict(list)
    for folder in arguments[1:]:
        print_reports(folder)
        for kind, name in results(folder):
            names[kind].append(f"{os.path.basename(folder)}: {name}")
    for kind in ("skipped", "failed"):
        for name in names[kind]:
            print(f"{kind}: {name}")
    counts = {kind: len(names[kind]) for kind in ("passed", "failed", "skipped")}
    line = f"{counts['passed']} passed, {counts['failed']} failed"
    if counts["skipped"]:
        line += f", {counts['skipped']} skipped"
    print(line)
    return 0 if counts["passed"] and not counts["failed"] else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv))
