"""No test is lost: each file of tests is built or run, and so is each test in it."""

import posixpath
import re

from rules.tree import finding, line_of

FILE = re.compile(r"tests/[a-z]+/(?:\w+/)*\w+_(?:pg)?test\.(?:cc|py)")
ALL_ARE_RUN = "tests/system/"
# As tests/skiplane_python_test.cmake reads them.
METHOD = re.compile(r"(?m)^( *)(async )?def test_\w+")


def list_of(path, files):
    """What builds or runs it: the nearest CMakeLists.txt above."""
    while path:
        path = posixpath.dirname(path)
        if f"{path}/CMakeLists.txt" in files:
            return f"{path}/CMakeLists.txt"
    return ""


def is_listed(path, where, text):
    """By its path below the list; of a Python file also by what a list of names makes it of."""
    names = [posixpath.relpath(path, posixpath.dirname(where))]
    if path.endswith(".py"):
        names.append(posixpath.basename(path).removesuffix("_test.py"))
    return any(re.search(rf"(?<![\w/]){re.escape(name)}(?!\w)", text) for name in names)


def check_file(path, text, files):
    where = list_of(path, files)
    if not path.startswith(ALL_ARE_RUN) and not is_listed(path, where, files.get(where, "")):
        yield finding(path, 1, f"not in {where or 'any CMakeLists.txt'}: nobody runs it")
    if not path.endswith(".py"):
        return
    for method in METHOD.finditer(text):
        if method.group(1) != "    " or method.group(2):
            yield finding(path, line_of(text, method.start()),
                          "a test is a plain method of a class at the margin: nobody runs this")


def check(files):
    return [problem for path, text in files.items() if FILE.fullmatch(path)
            for problem in check_file(path, text, files)]
