"""A rough reading of C++: enough to find functions, not to understand them."""

import re

NOISE = re.compile(
    r'R"(?P<mark>[^()\s]{0,16})\((?:.|\n)*?\)(?P=mark)"'
    r"|//[^\n]*"
    r"|/\*(?:.|\n)*?\*/"
    r'|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'"
)
CONTROL = re.compile(r"\b(if|for|while|switch|catch|do|else|namespace|struct|class|enum|union)\b")


def without_noise(text):
    """The text with comments, strings and preprocessor lines blanked; lines stay where they are."""
    blanked = NOISE.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)
    return re.sub(r"(?m)^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", lambda m: re.sub(r"[^\n]", " ", m.group()),
                  blanked)


def functions(text):
    """Yields (first line, last line) of each function body, outermost ones only."""
    code = without_noise(text)
    stack, start, last_stop = [], None, 0
    for match in re.finditer(r"[{};]", code):
        position = match.start()
        if match.group() == "{":
            head = code[last_stop:position]
            opens = start is None and ")" in head and not CONTROL.search(head.split("(")[0])
            if opens:
                start = (len(stack), last_stop + len(head) - len(head.lstrip()))
            stack.append(position)
        elif match.group() == "}" and stack:
            stack.pop()
            if start is not None and start[0] == len(stack):
                yield line(code, start[1]), line(code, position)
                start = None
        last_stop = position + 1


def line(text, position):
    return text.count("\n", 0, position) + 1
