"""Headers say what they are for; a document has one title."""

import re

from rules.tree import finding, ours

HEAD_LINES_MAX = 24


def check_header(path, text):
    lines = text.splitlines()
    head = 0
    while head < len(lines) and lines[head].startswith("//"):
        head += 1
    if head == 0:
        yield finding(path, 1, "a header begins with what it is for")
    if head > HEAD_LINES_MAX:
        yield finding(path, 1, f"{head} lines before the code: that is a document")
    if "#pragma once" not in lines:
        yield finding(path, 1, "no `#pragma once`")


def check_document(path, text):
    prose = re.sub(r"(?ms)^```.*?^```", "", text)
    titles = re.findall(r"(?m)^# \S.*$", prose)
    if len(titles) != 1:
        yield finding(path, 1, f"{len(titles)} titles (`# …`) instead of one")


def check(files):
    problems = []
    for path, text in files.items():
        if path.endswith(".h") and ours(path):
            problems += check_header(path, text)
        if path.endswith(".md") and ours(path):
            problems += check_document(path, text)
    return problems
