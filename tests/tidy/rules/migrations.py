"""Migrations that were released are never edited: databases that exist have run them as they were.

`migrations/released.sha256` lists them, as `sha256sum` writes it. To release what is new, in the
folder `migrations`: sha256sum */*.sql *.sql >released.sha256
"""

import hashlib
import re

from rules.tree import finding

FOLDER = "migrations/"
LIST = FOLDER + "released.sha256"
LINE = re.compile(r"([0-9a-f]{64})  (\S+)")


def check(files):
    problems = []
    for number, line in enumerate(files.get(LIST, "").splitlines(), 1):
        match = LINE.fullmatch(line)
        if match is None:
            problems.append(finding(LIST, number, "not a line of sha256sum"))
            continue
        text = files.get(FOLDER + match.group(2))
        if text is None or hashlib.sha256(text.encode()).hexdigest() != match.group(1):
            problems.append(finding(
                LIST, number, f"{match.group(2)} was released and is "
                f"{'gone' if text is None else 'changed'}: write a new migration"))
    return problems
