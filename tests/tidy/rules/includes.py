"""Rooms import one way, and each library has its fence (docs/ARCHITECTURE.md)."""

import re

from rules.tree import finding, line_of

ALL = None
ROOMS = {
    "base": set(),
    "sql": set(),
    "model": {"base"},
    "metrics": {"base"},
    "pg": {"sql", "metrics", "base"},
    "store": {"pg", "sql", "model", "base"},
    "broker": {"store", "pg", "model", "metrics", "base"},
    "upkeep": {"store", "pg", "model", "metrics", "base"},
    "rpc": {"broker", "model", "metrics", "base"},
    "web": {"broker", "model", "metrics", "base"},
    "config": {"model", "base"},
    "app": ALL,
}
# What may be included only there; an empty tuple means nowhere, the tests included.
FENCES = [
    (re.compile(r"pqxx\b"), ("server/pg/",)),
    (re.compile(r"(grpc|grpcpp|grpc\+\+)/|.*\.pb\.h$"), ("server/rpc/", "server/app/", "client/")),
    (re.compile(r"prometheus/"), ("server/metrics/",)),
    (re.compile(r"absl/synchronization/"), ()),
]
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)
DEPENDS = re.compile(r"skiplane_room\(\s*(\w+)[^)]*?\bDEPENDS\s+([^)]*?)(?:\bLIBRARIES\b|\))")


def room_of(path):
    parts = path.split("/")
    return parts[1] if parts[0] == "server" and len(parts) > 2 else "app"


def check_edge(path, target):
    """What is wrong with `path` including `target`, both below the root; None if nothing is."""
    source, aim = path.split("/")[0], target.split("/")[0]
    if aim == "tests" and source != "tests":
        return f"{target}: nobody imports tests"
    if source == "client" and aim == "server":
        return f"{target}: the client does not import the server"
    if source == "server" and (aim == "client" or target.startswith("skiplane/client")):
        return f"{target}: the server does not import the client"
    if source != "server" or aim != "server":
        return None
    room, other = room_of(path), room_of(target)
    if room not in ROOMS:
        return f"the room {room} is not in the table of tests/tidy/rules/includes.py"
    if room != other and ROOMS[room] is not ALL and other not in ROOMS[room]:
        return f"{target}: {room} may not import {other}"
    return None


def check_fence(path, target):
    for pattern, places in FENCES:
        if not pattern.match(target) or path.startswith(places):
            continue
        if path.startswith("tests/") and places:
            continue
        return f"{target}: only in {' '.join(places) or 'no place'}"
    return None


def check_sources(files):
    for path, text in files.items():
        if not path.endswith((".cc", ".h")):
            continue
        for match in INCLUDE.finditer(text):
            target = match.group(2)
            for problem in (check_edge(path, target), check_fence(path, target)):
                if problem:
                    yield finding(path, line_of(text, match.start()), problem)


def check_links(files):
    for path, text in files.items():
        if not (path.startswith("server/") and path.endswith("CMakeLists.txt")):
            continue
        for match in DEPENDS.finditer(text):
            room, others = match.group(1), match.group(2).split()
            allowed = ROOMS.get(room, set())
            for other in others:
                if allowed is not ALL and other not in allowed:
                    yield finding(path, line_of(text, match.start()),
                                  f"{room} may not depend on {other}")


def check(files):
    return [*check_sources(files), *check_links(files)]
