"""A reason has one code: in error_reason.proto, in PROTOCOL.md and wherever the server refuses."""

import re

from rules.tree import finding, line_of

DOCUMENT, PROTO = "docs/PROTOCOL.md", "proto/skiplane/v1/error_reason.proto"
VALUE = re.compile(r"((?:  //.*\n)+)  ERROR_REASON_(\w+) = [1-9]")
CODE = re.compile(r"// ([A-Z_]+)[:,]")
ROW = re.compile(r"(?m)^\| `([A-Z_]+)` \| ([A-Z_]+|none) \|")
SECTION = re.compile(r"(?ms)^## Errors\n(.*?)(?=^## |\Z)")
REFUSAL = re.compile(r'\bRefuse(?:Field)?\(\s*(?:absl::)?(?:StatusCode::)?k(\w+),\s*"([A-Z_]+)"')


def in_proto(text):
    """The code of each reason; "none" of those that no status has."""
    codes = {}
    for value in VALUE.finditer(text):
        code = CODE.search(value.group(1).split("\n", 1)[0])
        codes[value.group(2)] = code.group(1) if code else "none"
    return codes


def in_document(text):
    """The code of each reason, and where it stands."""
    section = SECTION.search(text)
    if section is None:
        return {}
    return {row.group(1): (row.group(2), line_of(text, section.start(1) + row.start()))
            for row in ROW.finditer(section.group(1))}


def spelled(name):
    """"INVALID_ARGUMENT" of "InvalidArgument"."""
    return re.sub(r"(?<!^)([A-Z])", r"_\1", name).upper()


def check(files):
    codes = in_proto(files.get(PROTO, ""))
    explained = in_document(files.get(DOCUMENT, ""))
    problems = [finding(PROTO, 1, f"reason {name} is not in {DOCUMENT}")
                for name in sorted(codes.keys() - explained.keys())]
    for name, (code, line) in explained.items():
        if codes.get(name) != code:
            problems.append(finding(DOCUMENT, line, f"{name} has the code {codes.get(name)}"))
    for path, text in files.items():
        # What server/app refuses is told to the operator who starts it.
        if not path.startswith("server/") or path.startswith("server/app/"):
            continue
        for refusal in REFUSAL.finditer(text):
            code, name = spelled(refusal.group(1)), refusal.group(2)
            if codes.get(name) != code:
                problems.append(finding(path, line_of(text, refusal.start()),
                                        f"{name} has the code {codes.get(name)}, not {code}"))
    return problems
