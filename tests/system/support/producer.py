"""A service that shares the database: it has a login of its own with the role skiplane_producer."""

import json
import subprocess
import uuid

from support.process import GENEROUS_S


class Refused(Exception):
    """By PostgreSQL. `state` is its SQLSTATE."""

    def __init__(self, text):
        super().__init__(text)
        first = next(line for line in text.splitlines() if "ERROR:" in line)
        self.state, self.message = first.split("ERROR:", 1)[1].strip().split(": ", 1)


def literal(value):
    """A value as SQL spells it; bytes as bytea."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return str(value)
    if isinstance(value, bytes):
        return f"'\\x{value.hex()}'::bytea"
    if isinstance(value, dict):
        value = json.dumps(value)
    return "'" + value.replace("'", "''") + "'"


def arguments(*values, **named):
    texts = [literal(value) for value in values]
    return ", ".join(texts + [f"{name} => {literal(value)}" for name, value in named.items()])


class Producer:
    def __init__(self, database):
        self._database = database
        self.name = f"service_{uuid.uuid4().hex}"
        database.run(f"CREATE ROLE {self.name} LOGIN IN ROLE skiplane_producer")
        self.uri = database.uri_as(self.name)

    def end(self):
        self._database.run(f"DROP OWNED BY {self.name}; DROP ROLE {self.name}")

    def run(self, sql):
        """The rows of the last statement, as tuples of text."""
        result = subprocess.run(
            ["psql", "-X", "-q", "-A", "-t", "-F", "\x1f", "-R", "\x1e", "-v", "ON_ERROR_STOP=1",
             "-v", "VERBOSITY=verbose", self.uri],
            input=sql, text=True, capture_output=True, check=False, timeout=GENEROUS_S)
        if result.returncode != 0:
            raise Refused(result.stderr)
        text = result.stdout.rstrip("\n")
        return [tuple(row.split("\x1f")) for row in text.split("\x1e")] if text else []

    def enqueue(self, queue, payload=b"", **fields):
        """The id."""
        [(task_id,)] = self.run(f"SELECT skiplane.enqueue({arguments(queue, payload, **fields)})")
        return task_id

    def put(self, queue, payload=b"", **fields):
        """The outcome, spelled as the API's, and the id."""
        [(_, task_id, outcome, _)] = self.enqueue_many(queue, [{"payload": payload, **fields}])
        return outcome.upper(), task_id

    def enqueue_many(self, queue, tasks):
        made = ", ".join(f"skiplane.make_task({arguments(**task)})" for task in tasks)
        return self.run(f"SELECT * FROM skiplane.enqueue_many({literal(queue)},"
                        f" ARRAY[{made}]::skiplane.new_task[])")
