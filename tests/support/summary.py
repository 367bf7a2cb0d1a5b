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
LINES = 200  # of each failed test


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


def text_of(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read().rstrip()


def results(folder):
    """Triples of outcome, name and, of what failed, what it said: all of a report, the end of a
    test's output."""
    for name in reports(folder):
        yield "failed", name, text_of(os.path.join(folder, name))
    try:
        root = xml.etree.ElementTree.parse(os.path.join(folder, JUNIT)).getroot()
    except (OSError, xml.etree.ElementTree.ParseError):
        if not reports(folder):
            yield "failed", "ctest did not come to its end", ""
        return
    for case in root.iter("testcase"):
        lines = case.findtext("system-out", "").rstrip().splitlines()
        yield outcome(case), case.get("name"), "\n".join(lines[-LINES:])


def main(arguments):
    names = collections.defaultdict(list)
    for folder in arguments[1:]:
        phase = os.path.basename(folder)
        for kind, name, said in results(folder):
            names[kind].append(f"{phase}: {name}")
            # Once more: who has only the end of a long log is to see why, too.
            if kind == "failed":
                print(f"---- {phase}: {name}\n{said}")
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
