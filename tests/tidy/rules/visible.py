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
    r"std::(?:all_of|any_of|clamp|copy|count_if|fill|find|find_if|lower_bound|max|max_element|min"
    r"|min_element|none_of|nth_element|partition_point|remove|remove_if|reverse|rotate|sort"
    r"|stable_sort|transform|unique|upper_bound)\b(?=[(<])": "algorithm",
    r"std::atomic\b": "atomic",
    r"std::chrono::\w": f"chrono|thread|condition_variable|{GRPC}",
    r"std::function<": f"functional|{GRPC}",
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
    r"std::deque<": "deque",
    r"std::(?:multi)?set<": f"set|{GRPC}",
    r"std::(?:variant<|holds_alternative|get_if)": "variant",
    r"std::exchange\(": f"utility|{STATUSOR}|{GRPC}",
    r"absl::(?:StrContains|StartsWith|EndsWith|EqualsIgnoreCase)\b": r"absl/strings/match\.h",
    r"absl::StrFormat\b": r"absl/strings/str_format\.h",
    r"absl::StrSplit\b": r"absl/strings/str_split\.h",
    r"absl::StrReplaceAll\b": r"absl/strings/str_replace\.h",
    r"absl::StrCat\b": r"absl/strings/str_cat\.h",
    r"absl::StrJoin\b": r"absl/strings/str_join\.h",
    r"absl::Now\b(?=\()": r"absl/time/clock\.h",
    r"absl::(?:Time|Duration)\b": r"absl/time/(?:time|clock)\.h",
    r"grpc::\w": GRPC,
}.items()]
# What a header of ours has for others: types, constants and functions of its namespace.
NAMESPACE = re.compile(r"(?m)^namespace (?:skiplane::)?(?:\w+::)*([a-z]\w*) \{$")
DECLARED = re.compile(r"(?m)^(?:class|struct|enum class) (?:\[\[\w+\]\] )?(\w+)(?=[^;{}]*\{)"
                      r"|^(?:inline )?constexpr [^=({;]*?\b(k[A-Z]\w*)"
                      r"|^[A-Za-z][\w:<>,*& \[\]]*[ *&]([A-Z]\w*)\(")
# What may mean something else where it stands alone: classes have types and functions of that name.
ELSEWHERE = re.compile(r"(?m)^ .*?\b(?:class|struct|enum|enum class|typename|using) (\w+)"
                       r"|^ +(?! |return\b|explicit\b|new\b)[\w:<>,*& \[\]]*[\w>*&] +[*&]?"
                       r"([A-Z]\w*)\("
                       r"|<typename (\w+)|^using (\w+) =")
FORWARD = re.compile(r"(?m)^(?:namespace [\w:]+ \{ )?(?:class|struct) (\w+);")
NAME = re.compile(r"(?<![\w.>~:])(?:(\w+)::)*(k?[A-Z]\w+)\b")
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


def space_of(text):
    found = NAMESPACE.search(text)
    return found and found.group(1)


def check_ours(path, text, ours, homes, elsewhere, announced):
    part, own_space = path.split("/")[0], space_of(text)
    known = names_of(DECLARED, text).union(*(announced[one] for one in ours))
    for use in NAME.finditer(text):
        space, name = use.groups()
        if not space and (part, name) in elsewhere:
            continue
        home = homes.get((part, space or own_space, name))
        if home and not home & ours and name not in known:
            yield finding(path, line_of(text, use.start()),
                          f"{name} needs an include of {sorted(home)[0]}")


def homes_of(code):
    """By part of the tree (client, server), namespace and name: the headers that have it. And the
    names of a part that may mean something else where they stand without a namespace."""
    homes, elsewhere = {}, set()
    for path, text in code.items():
        part = path.split("/")[0]
        elsewhere |= {(part, name) for name in names_of(ELSEWHERE, text)}
        for name in names_of(DECLARED, text) if path.endswith(".h") else ():
            homes.setdefault((part, space_of(text), name), set()).add(path)
    return homes, elsewhere


def check(files):
    shipped = {path: text for path, text in files.items() if SHIPPED.match(path)}
    closure = Closure(shipped)
    code = {path: without_noise(text) for path, text in shipped.items()}
    homes, elsewhere = homes_of(code)
    announced = {path: names_of(FORWARD, text) for path, text in code.items()}
    problems = []
    for path, text in sorted(code.items()):
        ours, theirs = closure.of(path)
        problems += check_libraries(path, text, theirs)
        problems += check_ours(path, text, ours, homes, elsewhere, announced)
    return problems
