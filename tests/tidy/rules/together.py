"""Files that are compiled at once name their constants apart. Which files those are shifts with
each file that is added, so a clash may show in another build than the one that its author ran."""

import re

from rules.tree import finding, line_of

LIST = "cmake/precompile.cmake"
ALONE = re.compile(r"(?s)^set\(alone\n(.*?)\)\n", re.M)
CONSTANT = re.compile(r"(?m)^constexpr [^=({;]*?\b(k[A-Z]\w*)")
UNNAMED = re.compile(r"(?ms)^namespace \{\n(.*?)^\}  // namespace\n")


def target_of(path):
    """Those that may be compiled together: all of the client; of the broker a room, with its
    folders, since tests/fuzz takes files from several of them."""
    room = re.match("client/src/|server/[a-z]+/", path)
    return room and room.group()


def constants_of(text):
    for part in UNNAMED.finditer(text):
        for found in CONSTANT.finditer(part.group(1)):
            yield found.group(1), part.start(1) + found.start()


def check(files):
    listed = ALONE.search(files.get(LIST, ""))
    alone = "|".join(re.findall(r'"([^"]+)"', listed.group(1))) if listed else r"(?!)"
    found, problems = {}, []
    for path, text in sorted(files.items()):
        if not path.endswith(".cc") or not target_of(path) or re.search(alone, path):
            continue
        for name, position in constants_of(text):
            other = found.setdefault((target_of(path), name), path)
            if other != path:
                problems.append(finding(path, line_of(text, position),
                                        f"{name} is in {other}, too: name one of the two apart, "
                                        f"or list its file in {LIST}"))
    return problems
