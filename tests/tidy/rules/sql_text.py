"""A rough reading of SQL: its head comment, its clauses and what encloses them."""

import re

NOISE = re.compile(r"--[^\n]*|/\*(?:.|\n)*?\*/|'(?:''|[^'])*'")


def head_comment(text):
    lines = []
    for line in text.splitlines():
        if not line.startswith("--"):
            break
        lines.append(line[2:].strip())
    return "\n".join(lines)


def marker(text, name):
    """Whether the head comment has `NAME: any because …`, with a reason."""
    return re.search(rf"(?m)^{name}: any because \w+", head_comment(text)) is not None


def without_noise(text):
    return NOISE.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)


def block_around(code, position):
    """The query that holds the position: the innermost parentheses around it, or everything."""
    depth, first = 0, 0
    for index in range(position - 1, -1, -1):
        if code[index] == ")":
            depth += 1
        elif code[index] == "(":
            if depth == 0:
                first = index + 1
                break
            depth -= 1
    depth = 0
    for index in range(position, len(code)):
        if code[index] == "(":
            depth += 1
        elif code[index] == ")":
            if depth == 0:
                return first, index
            depth -= 1
    return first, len(code)


def own_text(block):
    """The block without the parentheses inside it."""
    kept, depth = [], 0
    for letter in block:
        depth -= letter == ")"
        kept.append(letter if depth == 0 else " ")
        depth += letter == "("
    return "".join(kept)


CHANGE = re.compile(
    r"(?<!FOR )(?<!FOR NO KEY )\b(UPDATE|DELETE\s+FROM)\b(?!\s+(?:SKIP|OF)\b)", re.IGNORECASE)


def changes(code):
    """Yields (position, text) of each UPDATE or DELETE, from its verb to the end of its query."""
    for match in CHANGE.finditer(code):
        _, end = block_around(code, match.start())
        yield match.start(), code[match.start():end]
