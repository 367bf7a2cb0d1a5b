"""The commands that a document tells its readers to give."""

import os
import re

from support import stubs


def text_below(document, heading):
    """All that follows this heading."""
    with open(os.path.join(stubs.ROOT, document), encoding="utf-8") as file:
        text = file.read()
    below = re.split(rf"(?m)^#+ {re.escape(heading)}$", text)
    assert len(below) == 2, f"{document} has no heading {heading}"
    return below[1]


def blocks_in(text):
    """Language and text of each."""
    return re.findall(r"(?ms)^```(\w*)\n(.*?)^```", text)


def commands(document, heading, block=0):
    """The first block of commands below this heading, or a later one."""
    return blocks_in(text_below(document, heading))[block][1]


def section(document, heading):
    """All blocks of commands between this heading and the next."""
    blocks = blocks_in(re.split(r"(?m)^## .*$", text_below(document, heading))[0])
    return [commands for language, commands in blocks if not language]
