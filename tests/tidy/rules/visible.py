"""What is shipped includes what it names, or includes a file of ours that does. A compiler says so
only where each file is compiled alone, as for a release. In tests/run a file also sees what its
neighbours include, and the headers that are compiled once (cmake/precompile.cmake)."""

import os
import re

from rules.cpp import without_noise
from rules.includes import INCLUDE
from rules.tree import finding, line_of

GRPC = r"grpcpp/.*|.*\.grpc\.pb\.h"
STATUSOR = r"absl/status/statusor\.h"
# Names of libraries, and the headers that have them: those that are compiled once and whose lack
# would therefore not be seen.
LIBRARIES = [(re.compile(rf"\b{names}"), re.compile(rf"(?:{headers})$")) for names, headers in {
    r"std::(?:all_of|any_of|clamp|fill|find_if|max|min|none_of|remove_if|reverse|sort|stable_sort"
    r"|upper_bound|lower_bound|max_element|min_element|partition_point|nth_element)\b(?=\()":
        "algorithm",
    r"std::atomic\b": "atomic",
    r"std::chrono::\w": f"chrono|thread|condition_variable|{GRPC}",
    r"std::(?:function|hash|reference_wrapper)\b<": f"functional|string|{GRPC}",
    r"std::(?:multi)?map\b<": f"map|{GRPC}",
    r"std::(?:unique_ptr|shared_ptr|weak_ptr|make_unique|make_shared)\b": f"memory|{GRPC}",
    r"std::(?:optional|nullopt)\b": f"optional|{STATUSOR}|absl/.*",
    r"std::(?:string|to_string)\b": f"string|{GRPC}|absl/.*",
    r"std::(?:thread|this_thread)\b": f"thread|{GRPC}",
    r"std::vector\b": f"vector|{GRPC}|absl/.*",
    r"absl::flat_hash_map\b": r"absl/container/flat_hash_map\.h",
    r"absl::flat_hash_set\b": r"absl/container/flat_hash_set\.h",
    r"absl::AnyInvocable\b": r"absl/functional/any_invocable\.h",
    r"absl::StatusOr\b": STATUSOR,
    r"absl::StrCat\b": r"absl/strings/str_cat\.h",
    r"absl::StrJoin\b": r"absl/strings/str_join\.h",
    r"absl::Now\b(?=\()": r"absl/time/clock\.h",
    r"absl::(?:Time|Duration)\b": r"absl/time/(?:time|clock)\.h",
    r"grpc::\w": GRPC,
}.items()]
# What a header of ours has for others: types and constants of its namespace.
DECLARED = re.compile(r"(?m)^(?:class|struct|enum class) (?:\[\[\w+\]\] )?(\w+)(?=[^;{}]*\{)"
                      r"|^(?:inline )?constexpr [^=({;]*?\b(k[A-Z]\w*)")
# What may mean something else where it stands: classes have types and functions of that name.
ELSEWHERE = re.compile(r"(?m)^ .*?\b(?:class|struct|enum|enum class|typename|using) (\w+)"
                       r"|^[^\n]*[ *&:]([A-Z]\w*)\(|<typename (\w+)|^using (\w+) =")
FORWARD = re.compile(r"(?m)^(?:class|struct) (\w+);|^(?:inline )?constexpr [^=({;]*?\b(k[A-Z]\w*)")
NAME = re.compile(r"(?<![\w.>~])(?<!::)(k?[A-Z]\w+)\b")
SHIPPED = re.compile(r"(server|client)/.*\.(?:cc|h)$")
ROOTS = ("", "client/include/", "client/src/", "client/cli/")


def path_of(files, path, target):
    """The file of ours that `path` includes as `target`; None if it is a library's."""
    for root in (os.path.dirname(path) + "/", *ROOTS):
        if root + target in files:
            return root + target
    return None


class Closure:
    """What is included by each file, by way of whichever files of ours."""

    def __init__(self, files):
        self.files, self.known = files, {}

    def of(self, path):
        """Two sets: files of ours, itself among them, and headers of libraries."""
        if path not in self.known:
            ours, theirs = {path}, set()
            self.known[path] = ours, theirs
            for match in INCLUDE.finditer(self.files[path]):
                other = path_of(self.files, path, match.group(2))
                if not other:
                    theirs.add(match.group(2))
                else:
                    more = self.of(other)
                    ours |= more[0]
                    theirs |= more[1]
        return self.known[path]


def names_of(pattern, code):
    return {name for found in pattern.finditer(code) for name in found.groups() if name}


def check_libraries(path, text, theirs):
    for names, headers in LIBRARIES:
        use = names.search(text)
        if use and not any(headers.match(header) for header in theirs):
            yield finding(path, line_of(text, use.start()),
                          f"{use.group()} needs an include of {headers.pattern}")


def check_ours(path, text, ours, homes):
    own = names_of(FORWARD, text)
    for use in NAME.finditer(text):
        home = homes.get((path.split("/")[0], use.group(1)))
        if home and not home & ours and use.group(1) not in own:
            yield finding(path, line_of(text, use.start()),
                          f"{use.group(1)} needs an include of {sorted(home)[0]}")


def homes_of(code):
    """Of each part of the tree and name that means one thing there: the headers that have it."""
    homes = {}
    for path, text in code.items():
        if path.endswith(".h"):
            for name in names_of(DECLARED, text):
                homes.setdefault((path.split("/")[0], name), set()).add(path)
    for path, text in code.items():
        for name in names_of(ELSEWHERE, text):
            homes.pop((path.split("/")[0], name), None)
    return homes


def check(files):
    shipped = {path: text for path, text in files.items() if SHIPPED.match(path)}
    closure = Closure(shipped)
    code = {path: without_noise(text) for path, text in shipped.items()}
    homes = homes_of(code)
    problems = []
    for path, text in sorted(code.items()):
        ours, theirs = closure.of(path)
        problems += check_libraries(path, text, theirs)
        problems += check_ours(path, text, ours, homes)
    return problems
