"""A folder can be read as a list: at most 20 units. A header and its source are one unit."""

import collections
import os

from rules.tree import finding

UNITS_MAX = 20


def check(files):
    units = collections.defaultdict(set)
    for path in files:
        unit, end = os.path.splitext(path)
        if end in (".h", ".cc"):
            units[os.path.dirname(path)].add(unit)
    return [
        finding(folder, 1, f"{len(names)} units, at most {UNITS_MAX}: split the folder")
        for folder, names in sorted(units.items())
        if len(names) > UNITS_MAX
    ]
