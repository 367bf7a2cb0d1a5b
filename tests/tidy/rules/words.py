"""Words and calls that we do without, each with what to do instead."""

import os
import re

from rules import cpp
from rules.tree import finding, line_of, ours

# This file has to spell them.
EXEMPT = ("tests/tidy/rules/words.py", "tests/tidy/selftest/words_test.py")
SOURCES = (".cc", ".h")
EVERYTHING = ""


class Word:
    def __init__(self, pattern, instead, places=EVERYTHING, ends=EVERYTHING):
        self.pattern = re.compile(pattern, re.MULTILINE)
        self.instead = instead
        self.places = places
        self.ends = ends

    def occurrences(self, path, text, code):
        """A word for sources is looked for in their code; any other one in the whole text."""
        if not (path.startswith(self.places) and path.endswith(self.ends)):
            return []
        return self.pattern.finditer(code if self.ends == SOURCES else text)


WORDS = [
    Word(r"\b(TODO|FIXME|XXX|HACK)\b", "finish it, or file an issue"),
    Word(r"\b(sleep_for|sleep_until|usleep|nanosleep|SleepFor)\b|\btime\.sleep\b|^\s*sleep\s+\S",
         "wait for a signal with a bound", places="tests/"),
    Word(r"\babsl::Mutex(Lock)?\b", "server/base/mutex.h", ends=SOURCES),
    Word(r"\bstd::string_view\s*&?\s*\w*\s*[,)(]", "absl::string_view in signatures",
         places=("server/", "client/"), ends=SOURCES),
    Word(r"\bpqxx::perform\b", "no write is repeated by a library", ends=SOURCES),
    Word(r"\b(class|struct)\s+(\w+\s+)?\w*(Manager|Helper|Util|Utils|Common|Data|Info|Impl)\b",
         "name it after what it is", places=("server/", "client/", "tests/"), ends=SOURCES),
    # A machine's own places: home folders of root, and of whoever built it.
    Word(r"(?<![\w.}/-])/(work|root|home/\w+)/", "no path of one machine"),
]


def check_names(files):
    pattern = re.compile(r"(^|_)(manager|helpers?|utils?|common|data|info|impl)\.(cc|h|py)$")
    return [
        finding(path, 1, "a file is named after its one noun")
        for path in files
        if pattern.search(os.path.basename(path))
    ]


def check(files):
    problems = check_names(files)
    for path, text in files.items():
        if not ours(path) or path in EXEMPT:
            continue
        code = cpp.without_noise(text) if path.endswith(SOURCES) else text
        problems += [
            finding(path, line_of(text, match.start()),
                    f"`{match.group().strip()}`: {word.instead}")
            for word in WORDS
            for match in word.occurrences(path, text, code)
        ]
    return problems
