"""Pictures in documents show what the code has: each names what it is compared with.

`%% picture: NAME` in a Mermaid block chooses one of PICTURES below.
"""

import ast
import re

from rules import includes, mermaid
from rules.tree import finding

STATES = "tests/system/support/task_states.py"
STEP = re.compile(r'(?m)^@transition\("([^"]+)", "([^"]+)", "([^"]+)"\)$')
BELIEF = "server/broker/schedule/belief.h"
BELIEF_TEST = "tests/broker/schedule/belief_transitions_test.cc"
LISTED = re.compile(r"(?m)^//   k(\w+) +-> k(\w+) +(.*)$")
PERFORMED = re.compile(r'\{Kind::k(\w+), "([^"]+)", Kind::k(\w+)[,}]')
LEASE = "tests/system/lease_sequence_test.py"
LEDGER = re.compile(r"\b(INSERT INTO|DELETE FROM|UPDATE)\s+skiplane\.lease_ledger\b")
PACKS = re.compile(r"\b(INSERT INTO|DELETE FROM|UPDATE)\s+skiplane\.task_pack\b")


def task_states(files):
    """The steps that a test takes."""
    return set(STEP.findall(files.get(STATES, "")))


def room_arrows(table):
    """What each room may include, without what it reaches through another one."""
    def reached(room, left_out):
        found, ahead = set(), [other for other in table[room] if other != left_out]
        while ahead:
            other = ahead.pop()
            if other not in found:
                found.add(other)
                ahead += table[other]
        return found

    table = {room: set(table) - {room} if others is includes.ALL else others
             for room, others in table.items()}
    return {(room.replace("/", "_"), other.replace("/", "_"), "")
            for room, others in table.items() for other in others
            if other not in reached(room, other)}


def ledger_changes(files):
    """(statement, whether it makes rows, whether it removes some) of what writes the ledger."""
    changes = set()
    for path, text in files.items():
        verbs = set(LEDGER.findall(text)) if path.startswith("server/sql/") else ()
        if verbs:
            statement = path.rsplit("/", 1)[1].removesuffix(".sql")
            changes.add((statement, "INSERT INTO" in verbs, "DELETE FROM" in verbs))
    return changes


def drawn_changes(code):
    """The same as it is drawn: an arrow from somewhere makes a row or writes it anew."""
    arrows = mermaid.arrows(code)
    return {(cause, any(target != "[*]" for _, target, other in arrows if other == cause),
             any(source != "[*]" for source, _, other in arrows if other == cause))
            for _, _, cause in arrows}


def pack_writers(files):
    return {path.rsplit("/", 1)[1].removesuffix(".sql") for path, text in files.items()
            if path.startswith("server/sql/") and PACKS.search(text)}


def drawn_causes(code):
    return {cause for _, _, cause in mermaid.arrows(code)}


def belief(files):
    """The transitions that the header lists. If the test performs others, these are told too."""
    listed = {(source, target, cause.strip())
              for source, target, causes in LISTED.findall(files.get(BELIEF, ""))
              for cause in causes.split(";")}
    performed = {(source, target, cause)
                 for source, cause, target in PERFORMED.findall(files.get(BELIEF_TEST, ""))}
    return listed | {(*other, "of the header or its test only") for other in listed ^ performed}


def lease_sequence(files):
    """The statements before each state of a Lease, as a test finds them."""
    match = re.search(r"(?ms)^SEQUENCE = (.*?^\))", files.get(LEASE, ""))
    return list(ast.literal_eval(match.group(1))) if match else []


def drawn_sequence(code):
    sequence, statements = [], []
    for source, target, text in mermaid.events(code):
        if (source, target) == ("B", "P"):
            statements.append(re.split("[,:]", text)[0])
        elif not source:
            sequence.append((re.split("[,:]", text)[0], tuple(statements)))
            statements = []
    return sequence


# Name: what is drawn, what the code has.
PICTURES = {
    "states": (mermaid.arrows, task_states),
    "rooms": (mermaid.arrows, lambda files: room_arrows(includes.ROOMS)),
    "ledger": (drawn_changes, ledger_changes),
    "packs": (drawn_causes, pack_writers),
    "lease": (drawn_sequence, lease_sequence),
    "belief": (mermaid.arrows, belief),
}


def differences(drawn, real):
    if isinstance(real, list):
        return [] if drawn == real else [f"{drawn} is drawn, the code has {real}"]
    return [f"{item} is not drawn" for item in sorted(real - drawn)] + \
           [f"{item} is drawn and does not exist" for item in sorted(drawn - real)]


def check(files):
    problems, seen = [], set()
    for path, text in files.items():
        for line, name, code in mermaid.pictures(text) if path.endswith(".md") else ():
            if name not in PICTURES:
                problems.append(finding(path, line, "no `%% picture: NAME` that is compared"))
                continue
            seen.add(name)
            draw, read = PICTURES[name]
            problems += [finding(path, line, problem)
                         for problem in differences(draw(code), read(files))]
    missing = PICTURES.keys() - seen
    return problems + [finding("docs", 1, f"no picture: {name}") for name in sorted(missing)]
