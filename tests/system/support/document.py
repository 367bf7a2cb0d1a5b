"""The commands that a document tells its readers to give."""

import os
import re

from support import stubs


def commands(document, heading):
    """The first block of commands below this heading."""
    with open(os.path.join(stubs.ROOT, document), encoding="utf-8") as file:
        text = file.read()
    below = re.split(rf"(?m)^#+ {re.escape(heading)}$", text)
    assert len(below) == 2, f"{document} has no heading {heading}"
    return re.search(r"(?ms)^```\w*\n(.*?)^```", below[1]).group(1)
