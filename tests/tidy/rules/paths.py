"""Every path of this repository that a document names exists.

In code spans: `server/pg/pool.h`, a room's `rpc/call`, or a unit without its ending
(`broker/lease/lane`). In links: what they lead to, and its heading.
"""

import posixpath
import re

from rules.tree import finding, line_of

TOPS = "client|cmake|deploy|docs|migrations|proto|server|tests"
ROOMS = "access|app|base|broker|config|http|metrics|model|net|pg|rpc|sql|store|upkeep"
SPAN = re.compile(rf"(?<![`\w])`((?:{TOPS}|{ROOMS})/(?!NAME\b)[\w./-]*\w)/?(?: [^`\n]*)?`")
LINK = re.compile(r"\]\(([^()\s]+)\)")
FENCE = re.compile(r"(?ms)^```.*?^```")
# What was true when it was written.
EXEMPT = ("CHANGELOG.md",)


def places(files):
    """Every file and folder, and every file without its ending."""
    found = set()
    for path in files:
        found |= {path, posixpath.splitext(path)[0]}
        while path := posixpath.dirname(path):
            found.add(path)
    return found


def anchors(text):
    """The anchors of a document's headings, as GitHub makes them."""
    headings = re.findall(r"(?m)^#+ (.*)$", FENCE.sub("", text))
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def check_link(path, target, files, known):
    """What is wrong with a link; None if nothing is."""
    if re.match(r"[a-z]+:", target):
        return None
    name, _, anchor = target.partition("#")
    aim = posixpath.normpath(posixpath.join(posixpath.dirname(path), name)) if name else path
    if aim not in known:
        return f"the link {target} leads nowhere"
    if anchor and anchor not in anchors(files.get(aim, "")):
        return f"{aim} has no heading for #{anchor}"
    return None


def check(files):
    known, problems = places(files), []
    for path, text in files.items():
        if not path.endswith(".md") or path in EXEMPT:
            continue
        text = FENCE.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)
        for match in SPAN.finditer(text):
            name = match.group(1)
            if not {name, f"server/{name}"} & known:
                problems.append(finding(path, line_of(text, match.start()),
                                        f"`{name}` does not exist"))
        for match in LINK.finditer(text):
            problem = check_link(path, match.group(1), files, known)
            if problem:
                problems.append(finding(path, line_of(text, match.start()), problem))
    return problems
