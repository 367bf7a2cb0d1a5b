"""The commands that a document tells its readers to give."""

import os
import re

from support import stubs


def commands(document, heading, block=0):
    """The first block of commands below this heading, or a later one."""
    with open(os.path.join(stubs.ROOT, document), encoding="utf-8") as file:
        text = file.read()
    below = re.split(rf"(?m)^#+ {re.escape(heading)}$", text)
    assert len(below) == 2, f"{document} has no heading {heading}"
    return re.findall(r"(?ms)^```\w*\n(.*?)^```", below[1])[block]
