"""The table of limits in OPERATIONS.md has the numbers of the constants and flags that it names,
and leaves none out of those that bound a broker."""

import re

from rules.tree import finding, line_of

DOCUMENT, BOUNDS = "docs/OPERATIONS.md", "server/model/limits.h"
SECTION = re.compile(r"(?ms)^## (Limits|Flags)\n(.*?)(?=^## |\Z)")
ROW = re.compile(r"(?m)^\| ([^|]*) \| ([^|]*) \| ([^|]*) \| ([^|]*) \| .*\|$")
FLAG = re.compile(r"(?m)^\| `(--[a-z-]+) \w+` \| (\d+)s? \|")
CONSTANT = re.compile(r"inline constexpr [\w:]+ (k\w+) = ([^;]+);")
AMOUNT = re.compile(r"^(-?[\d,]+)(?: (KiB|MiB|GiB|s|min))?\b")
TIMES = {"Milliseconds": 0.001, "Seconds": 1, "Minutes": 60, "Hours": 3600}
UNITS = {"": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "s": 1, "min": 60}
# From here on limits.h has the bounds of a broker; what stands before is of calls and fields.
FIRST = "kQueuesMax"
NO_LIMITS = {"kParkedRequestBytes"}  # what a limit is made of


def value(expression):
    """Of a constant; None if it is none that this can compute."""
    duration = re.fullmatch(r"absl::(\w+)\((\d+)\)", expression)
    if duration is not None:
        return TIMES[duration.group(1)] * int(duration.group(2))
    shifted = re.fullmatch(r"(-?\d+)(?: << (\d+))?", expression)
    return shifted and int(shifted.group(1)) << int(shifted.group(2) or 0)


def amount(text):
    found = AMOUNT.match(text)
    return found and int(found.group(1).replace(",", "")) * UNITS[found.group(2) or ""]


def check(files):
    text = files.get(DOCUMENT, "")
    sections = {found.group(1): found for found in SECTION.finditer(text)}
    if "Limits" not in sections:
        return []
    constants = {name: value(expression) for path, source in files.items()
                 if path.startswith("server/") and path.endswith(".h")
                 for name, expression in CONSTANT.findall(source)}
    constants.update((name, value(expression))  # some of these names are others' as well
                     for name, expression in CONSTANT.findall(files.get(BOUNDS, "")))
    flags = dict(FLAG.findall(sections["Flags"].group(2))) if "Flags" in sections else {}
    known = {**constants, **{flag: int(number) for flag, number in flags.items()}}
    problems, named = [], set()
    table = sections["Limits"]
    for row in ROW.finditer(table.group(2)):
        line = line_of(text, table.start(2) + row.start())
        names = re.findall(r"`(k[A-Z]\w+|--[a-z-]+)`", row.group(4))
        named.update(names)
        for name in names:
            if name not in known:
                problems.append(finding(DOCUMENT, line, f"`{name}` is no constant and no flag"))
            elif len(names) <= 2 and known[name] != amount(row.group(3)) and "Min" not in row[4]:
                problems.append(finding(DOCUMENT, line, f"`{name}` is {known[name]}"))
    bounds = [name for name, _ in CONSTANT.findall(files.get(BOUNDS, ""))]
    wanted = bounds[bounds.index(FIRST):] if FIRST in bounds else []
    return problems + [
        finding(DOCUMENT, line_of(text, table.start()), f"`{name}` is not in the table of limits")
        for name in wanted if name not in named | NO_LIMITS]
