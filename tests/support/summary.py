"""Prints `N passed, N failed[, N skipped]` for a JUnit file of ctest.

A test whose program is missing counts as failed: it was not skipped on purpose.
"""

import collections
import sys
import xml.etree.ElementTree


def outcome(case):
    if case.get("status") == "run":
        return "passed"
    skipped = case.find("skipped")
    on_purpose = skipped is not None and skipped.get("message", "").startswith(
        ("SKIP_RETURN_CODE", "SKIP_REGULAR_EXPRESSION")
    )
    return "skipped" if on_purpose or case.get("status") == "disabled" else "failed"


def main(arguments):
    cases = xml.etree.ElementTree.parse(arguments[1]).getroot().iter("testcase")
    names = collections.defaultdict(list)
    for case in cases:
        names[outcome(case)].append(case.get("name"))
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
