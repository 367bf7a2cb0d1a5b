"""Prints `N passed, N failed[, N skipped]` for the phases of a run: summary.py FOLDER...

Each folder has the name of its phase and holds `tests.xml`, a JUnit file of ctest, and `cases`: for
each test of ctest that ran several cases a JUnit file of these, which are counted in its stead. Any
other file in it is a report of something that went wrong, such as a sanitizer's: it is printed, and
is a failure. So is a test whose program is missing, since it was not skipped on purpose, one that
failed though none of its cases did, and a phase whose tests did not come to their end.
"""

import collections
import os
import sys
import xml.etree.ElementTree

JUNIT = "tests.xml"
CASES = "cases"
LINES = 200  # of each failed test


def outcome_of_test(case):
    """By ctest."""
    if case.get("status") == "run":
        return "passed"
    skipped = case.find("skipped")
    on_purpose = skipped is not None and skipped.get("message", "").startswith(
        ("SKIP_RETURN_CODE", "SKIP_REGULAR_EXPRESSION")
    )
    return "skipped" if on_purpose or case.get("status") == "disabled" else "failed"


def outcome_of_case(case):
    """By GoogleTest or cases.py."""
    if case.find("failure") is not None:
        return "failed"
    skipped = case.find("skipped") is not None or case.get("status") == "notrun"
    return "skipped" if skipped else "passed"


def reports(folder):
    return sorted(name for name in os.listdir(folder) if name not in (JUNIT, CASES))


def text_of(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read().rstrip()


def last_lines(text):
    return "\n".join(text.rstrip().splitlines()[-LINES:])


def cases_of(folder, test):
    """Triples as of results(); none if the test told of no case, as one that broke off."""
    try:
        path = os.path.join(folder, CASES, f"{test}.xml")
        root = xml.etree.ElementTree.parse(path).getroot()
    except (OSError, xml.etree.ElementTree.ParseError):
        return
    for case in root.iter("testcase"):
        said = "\n".join(failure.text or "" for failure in case.iter("failure"))
        name = f"{case.get('classname')}.{case.get('name')}".lstrip(".")
        yield outcome_of_case(case), f"{test}: {name}", last_lines(said)


def results_of_test(folder, test):
    cases = list(cases_of(folder, test.get("name")))
    yield from cases
    outcome = outcome_of_test(test)
    is_told = any(kind == "failed" for kind, _, _ in cases) if outcome == "failed" else cases
    if not is_told:
        yield outcome, test.get("name"), last_lines(test.findtext("system-out", ""))


def results(folder):
    """Triples of outcome, name and, of what failed, what it said: all of a report, the end of what
    a test or a case said."""
    for name in reports(folder):
        yield "failed", name, text_of(os.path.join(folder, name))
    try:
        root = xml.etree.ElementTree.parse(os.path.join(folder, JUNIT)).getroot()
    except (OSError, xml.etree.ElementTree.ParseError):
        if not reports(folder):
            yield "failed", "ctest did not come to its end", ""
        return
    for test in root.iter("testcase"):
        yield from results_of_test(folder, test)


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
