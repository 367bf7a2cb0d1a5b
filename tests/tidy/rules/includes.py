"""Rooms import one way, and each library has its fence (docs/ARCHITECTURE.md)."""

import re

from rules.tree import finding, line_of

ALL = None
BELOW = {"store", "pg", "model", "metrics", "base"}
API = {"broker/api", "model", "metrics", "base"}
# Each room, and those that it may include. They stand before it, so that there are no rings.
ROOMS = {
    "base": set(),
    "sql": set(),
    "model": {"base"},
    "access/keys": {"base"},
    "access": {"access/keys", "model", "base"},
    "metrics": {"base"},
    "net": {"metrics", "base"},
    "http": {"net", "model", "metrics", "base"},
    "pg": {"sql", "metrics", "base"},
    "pg/connections": {"pg", "metrics", "base"},
    "pg/migrate": {"pg", "base"},
    "store": {"pg", "sql", "model", "base"},
    "broker/api": {"pg", "model", "base"},
    "broker/batch": {"pg/connections", "pg", "model", "metrics", "base"},
    "broker/await": {"broker/batch", "broker/api", *BELOW},
    "broker/queues": {"broker/batch", "broker/api", *BELOW},
    "broker/sessions": {"broker/queues", "broker/batch", "broker/api", *BELOW},
    "broker/schedule": {"broker/api", "store", "model", "base"},
    "broker/job": {"broker/batch", "broker/api", "pg", "model", "base"},
    "broker/lease": {"broker/schedule", "broker/sessions", "broker/queues", "broker/batch",
                     "broker/api", "pg/connections", *BELOW},
    "broker/enqueue": {"broker/schedule", "broker/lease", "broker/sessions", "broker/queues",
                       "broker/batch", "broker/api", *BELOW},
    "broker/settle": {"broker/schedule", "broker/lease", "broker/enqueue", "broker/queues",
                      "broker/batch", "broker/api", *BELOW},
    "broker/observe": {"broker/schedule", "broker/lease", "broker/queues", "broker/batch",
                       "broker/api", "pg/connections", *BELOW},
    "broker/operate": {"broker/job", "broker/observe", "broker/schedule", "broker/lease",
                       "broker/enqueue", "broker/queues", "broker/await", "broker/batch",
                       "broker/api", "pg/connections", *BELOW},
    "broker": {"broker/operate", "broker/observe", "broker/settle", "broker/lease",
               "broker/enqueue", "broker/sessions", "broker/queues", "broker/await", "broker/batch",
               "broker/api", "pg/connections", *BELOW},
    "upkeep": BELOW,
    "rpc/call": {"access", "net", *API},
    "rpc/stream": {"rpc/call", "access", "model", "metrics", "base"},
    "rpc/broker": {"rpc/stream", "rpc/call", "access", *API},
    "rpc/settings": {"rpc/call", "model", "base"},
    "rpc/admin": {"rpc/settings", "rpc/broker", "rpc/stream", "rpc/call", "access", *API},
    "rpc/serve": {"rpc/admin", "rpc/broker", "rpc/call", "access", "net", *API},
    "http/connect": {"http", "rpc/call", "base"},
    "http/dashboard": {"http/connect", "http", "base"},
    "config": {"model", "base"},
    "app/cluster": {"base"},
    "app/database": {"app/cluster", "config", "store", "pg", "pg/migrate", "model", "base"},
    "app/backup": {"app/database", "app/cluster", "config", "pg", "pg/migrate", "base"},
    "app/limits": {"http", "config", "base"},
    "app/doctor": {"app/limits", "app/database", "config", "pg", "pg/migrate", "base"},
    "app/files": {"access", "access/keys", "net", "config", "pg", "base"},
    "app": ALL,
}
# What may be included only there, and in tests; LOCK not even in those.
LOCK = re.compile(r"absl/synchronization/")  # base/mutex.h, everywhere
FENCES = [
    (re.compile(r"pqxx\b"), ("server/pg/",)),
    (re.compile(r"(grpc|grpcpp|grpc\+\+)/|.*\.pb\.h$"),
     ("server/rpc/", "server/http/connect/", "server/app/", "client/")),
    (re.compile(r"boost/"), ("server/http/",)),
    (re.compile(r"cjose/"), ("server/access/",)),
    (re.compile(r"prometheus/"), ("server/metrics/",)),
    (re.compile(r"systemd/"), ("server/app/",)),
    (LOCK, ("server/main.cc",)),  # which sets how those of gRPC behave
]
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)
DEPENDS = re.compile(r"skiplane_room\(\s*(\w+)[^)]*?\bDEPENDS\s+([^)]*?)(?:\bLIBRARIES\b|\))")


def room_of(path):
    folder = path.split("/")[1:-1]
    return "/".join(folder) or "app"


def check_order(rooms):
    """Names every room of the table that may include one that does not stand before it."""
    before = set()
    for room, others in rooms.items():
        for other in sorted((others or set()) - before):
            yield finding("tests/tidy/rules/includes.py", 1,
                          f"{room} may include {other}, which does not stand before it")
        before.add(room)


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
        if path.startswith("tests/") and pattern is not LOCK:
            continue
        return f"{target}: only in {' '.join(places)}"
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
    rooms = {room.replace("/", "_"): room for room in ROOMS}
    for path, text in files.items():
        if not (path.startswith("server/") and path.endswith("CMakeLists.txt")):
            continue
        for match in DEPENDS.finditer(text):
            room = rooms.get(match.group(1), match.group(1))
            allowed = ROOMS.get(room, set())
            for name in match.group(2).split():
                other = rooms.get(name, name)
                if allowed is not ALL and other not in allowed:
                    yield finding(path, line_of(text, match.start()),
                                  f"{room} may not depend on {other}")


def check(files):
    return [*check_order(ROOMS), *check_sources(files), *check_links(files)]
