"""What lets the statements of server/sql run unchanged on Citus, and what keeps them findable.

A statement that is right to break a rule says so in its head comment, in a line of its own:
`-- lanes: any because …` (it looks at all lanes) or `-- locks: any because …` (it waits for rows).
"""

import os
import re

from rules import sql_text
from rules.tree import finding, line_of

FOLDER = "server/sql/"
# The task family: distributed by lane.
TABLES = ("task", "task_key", "task_failed", "lease_ledger", "settled", "enqueue_request",
          "history", "counter_delta", "counter", "task_pack", "pack_history")
MENTION = re.compile(
    r"(?:\b(?:FROM|JOIN|USING|(?<!FOR )UPDATE(?!\s+SET)|LATERAL)\s+|,\s*)(?:ONLY\s+)?"
    rf"skiplane\.(?P<table>{'|'.join(TABLES)})\b(?!\.)(?:\s+AS)?(?:\s+(?P<alias>\w+))?",
    re.IGNORECASE,
)
NOT_ALIASES = {"set", "where", "on", "using", "join", "left", "inner", "cross", "order", "group",
               "for", "returning", "limit", "tablesample", "union", "having"}
VOLATILE = re.compile(r"\b(clock_timestamp|timeofday|random|gen_random_uuid|nextval)\s*\(", re.I)
SUBSCRIPT = re.compile(r"(?:[\w)\]])\s*\[(?!\s*\])")
SET = re.compile(r"\bSET\b(.*?)(?=\bFROM\b|\bWHERE\b|\bRETURNING\b|\Z)", re.S | re.I)
LOCK = re.compile(r"\bFOR\s+(?:NO\s+KEY\s+)?(?:UPDATE|SHARE)\b(?P<rest>[^()]*)", re.I)


def check_lanes(path, code):
    for match in MENTION.finditer(code):
        alias = match.group("alias") or ""
        if not alias or alias.lower() in NOT_ALIASES:
            alias = match.group("table")
        first, end = sql_text.block_around(code, match.start())
        block = sql_text.own_text(code[first:end])
        by_alias = rf"\b{alias}\.lane\s*=\s*\$\d|\$\d+(?:::\w+)?\s*=\s*{alias}\.lane\b"
        bare = r"(?<![.\w])lane\s*=\s*\$\d"
        if not re.search(by_alias, block) and not re.search(bare, block):
            yield finding(path, line_of(code, match.start("table")),
                          f"{alias} has no `{alias}.lane = $n`")


def check_changes(path, code):
    for start, text in sql_text.changes(code):
        for match in VOLATILE.finditer(text):
            yield finding(path, line_of(code, start + match.start()),
                          f"{match.group(1)} in UPDATE or DELETE: compute it before")
        clause = SET.search(text) if re.match(r"UPDATE", text, re.I) else None
        if clause and SUBSCRIPT.search(clause.group(1)):
            yield finding(path, line_of(code, start), "a subscript in SET: unnest it before")


def check_locks(path, code):
    for match in LOCK.finditer(code):
        if not re.search(r"\bSKIP\s+LOCKED\b", match.group("rest"), re.I):
            yield finding(path, line_of(code, match.start()), "a row lock without SKIP LOCKED")


def check_statement(path, text):
    code = sql_text.without_noise(text)
    if not sql_text.head_comment(text):
        yield finding(path, 1, "no head comment: purpose, each $n, what no row means")
    if not sql_text.marker(text, "lanes"):
        yield from check_lanes(path, code)
    if not sql_text.marker(text, "locks"):
        yield from check_locks(path, code)
    yield from check_changes(path, code)


def check_list(files, statements):
    path = FOLDER + "CMakeLists.txt"
    listed = set(re.findall(r"[\w.]+", re.sub(r"#[^\n]*", "", files.get(path, ""))))
    for statement in statements:
        if os.path.basename(statement)[: -len(".sql")] not in listed:
            yield finding(path, 1, f"{statement} is not listed")


def check(files):
    statements = sorted(p for p in files if p.startswith(FOLDER) and p.endswith(".sql"))
    problems = list(check_list(files, statements))
    for path in statements:
        problems += check_statement(path, files[path])
    return problems
