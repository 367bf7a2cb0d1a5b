"""A rough reading of Mermaid: what pictures in documents name."""

import re

BLOCK = re.compile(r"(?ms)^```mermaid\n(.*?)^```")
NAME = re.compile(r"(?m)^\s*%% picture: (\w+)$")
ARROW = re.compile(r"(?m)^\s*(\[\*\]|\w+) -+> (\[\*\]|\w+)(?:: (.*?))?\s*$")
EVENT = re.compile(r"(?m)^\s*(?:(?P<source>\w+)-+>>(?P<target>\w+)|Note over (?P<over>\w+)):"
                   r" (?P<text>.*?)\s*$")


def pictures(text):
    """(line, name or None, code) of each picture of a document."""
    for block in BLOCK.finditer(text):
        name = NAME.search(block.group(1))
        yield text.count("\n", 0, block.start()) + 1, name and name.group(1), block.group(1)


def arrows(code):
    """(from, to, cause) of a state diagram or a flow chart; causes are separated by semicolons."""
    return {(match.group(1), match.group(2), cause.strip())
            for match in ARROW.finditer(code) for cause in (match.group(3) or "").split(";")}


def events(code):
    """(from, to, text) of each message of a sequence, and ("", over, text) of each note."""
    return [(match.group("source") or "", match.group("target") or match.group("over"),
             match.group("text")) for match in EVENT.finditer(code)]
