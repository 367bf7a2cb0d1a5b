"""The words that docs/GLOSSARY.md retires do not come back.

A word in `code` is refused everywhere, one in *italics* in what users read. Both are found in
names, too: `speaker` also finds Speakers, NotifySpeaker and speaker_.
"""

import os
import re

from rules.tree import finding, line_of, ours

GLOSSARY = "docs/GLOSSARY.md"
# What was released is not rewritten. The rule and its test have to spell the words. A library for
# plots has options of such a name.
EXEMPT = (GLOSSARY, "CHANGELOG.md", "tests/tidy/rules/glossary.py",
          "tests/tidy/selftest/glossary_test.py", "client/dashboard/src/parts/plot_options.ts")
FOR_USERS = ("proto/", "client/include/")
ROW = re.compile(r"(?m)^\|([^|]*)\|[^|]*\|([^|]*)\|$")
HEAD = "word"
CODE_SPAN = re.compile(r"(?ms)^```.*?^```|`[^`\n]*`")
SOURCES = (".cc", ".h", ".sql", ".py", ".proto", ".cmake", ".sh", ".md", ".txt", ".ts",
           ".tsx")


def forms(part):
    return f"(?:{re.escape(part)}|{re.escape(part.capitalize())}|{re.escape(part.upper())})"


def pattern(word):
    """Finds the word, its plural and names that hold it, but no longer words."""
    first, *others = word.split(" ")
    start = rf"(?:(?<![A-Za-z]){re.escape(first)}|(?<![A-Z])(?:{re.escape(first.capitalize())}" \
            rf"|{re.escape(first.upper())}))"
    rest = "".join(rf"[ \n_]?{forms(part)}" for part in others)
    return re.compile(rf"{start}{rest}(?:s|S|ed|ing|er|ers)?(?![a-z])")


def retired(text):
    """(word to use, pattern, whether everywhere) of each word that the table retires."""
    words = []
    for row in ROW.finditer(text):
        word, column = row.group(1).strip(), row.group(2)
        if word == HEAD:
            continue
        words += [(word, pattern(name), True) for name in re.findall(r"`([^`]+)`", column)]
        words += [(word, pattern(name), False) for name in re.findall(r"\*([^*]+)\*", column)]
    return words


def is_for_users(path):
    return path.endswith(".md") or path.startswith(FOR_USERS)


def prose(path, text):
    """The text without what documents quote of code; lines stay where they are."""
    if not path.endswith(".md"):
        return text
    return CODE_SPAN.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)


def check_file(path, text, words):
    for word, found, everywhere in words:
        if not everywhere and not is_for_users(path):
            continue
        searched = text if everywhere else prose(path, text)
        for match in found.finditer(searched):
            yield finding(path, line_of(text, match.start()),
                          f"`{match.group()}` is retired: {word} ({GLOSSARY})")
        if everywhere and found.search(os.path.basename(path)):
            yield finding(path, 1, f"a name with a retired word: {word} ({GLOSSARY})")


def check(files):
    words = retired(files.get(GLOSSARY, ""))
    return [problem for path, text in files.items()
            if ours(path) and path.endswith(SOURCES) and not path.startswith(EXEMPT)
            for problem in check_file(path, text, words)]
