"""Small units: files, functions, lines."""

import ast
import re

from rules import cpp
from rules.tree import finding, ours

COLUMNS_MAX = 100
FUNCTION_LINES_MAX = 50
HEADER_LINES_MAX = 150
FILE_LINES_MAX = 300
TEST_LINES_MAX = 400
# A service stays in one file: docs/adr/2026-11-23-proto-files-by-service.md.
SERVICE_LINES_MAX = 1000
SERVICE = re.compile(r"^service \w+ \{", re.MULTILINE)
CODE = (".cc", ".h", ".py", ".sql", ".cmake", ".sh", ".proto", ".ts", ".tsx", ".mjs", ".css",
        "CMakeLists.txt")


def is_code(path, text):
    return ours(path) and (path.endswith(CODE) or text.startswith("#!"))


def lines_max(path, text):
    if path.endswith(".proto") and SERVICE.search(text):
        return SERVICE_LINES_MAX
    if path.endswith(".h"):
        return HEADER_LINES_MAX
    return TEST_LINES_MAX if path.startswith("tests/") else FILE_LINES_MAX


def function_spans(path, text):
    if path.endswith((".cc", ".h")):
        yield from cpp.functions(text)
    if path.endswith(".py"):
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                yield node.lineno, node.end_lineno


def check_file(path, text):
    lines, most = text.splitlines(), lines_max(path, text)
    if len(lines) > most:
        yield finding(path, 1, f"{len(lines)} lines, at most {most}: split it")
    for number, line in enumerate(lines, 1):
        if len(line) > COLUMNS_MAX:
            yield finding(path, number, f"{len(line)} columns, at most {COLUMNS_MAX}")
    for first, last in function_spans(path, text):
        if last - first + 1 > FUNCTION_LINES_MAX:
            length = last - first + 1
            yield finding(path, first, f"function of {length} lines, at most {FUNCTION_LINES_MAX}")


def check(files):
    return [
        problem
        for path, text in files.items()
        if is_code(path, text)
        for problem in check_file(path, text)
    ]
