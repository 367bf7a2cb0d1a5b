"""A service that shares the database: it has a login of its own with the role skiplane_producer."""

import json
import uuid

import psycopg2

from support.database import run_sql


class Refused(Exception):
    """By PostgreSQL. `state` is its SQLSTATE."""

    def __init__(self, error):
        super().__init__(str(error))
        self.state, self.message = error.pgcode, error.diag.message_primary


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
    def __init__(self, database, roles="skiplane_producer"):
        self._database = database
        self.name = f"service_{uuid.uuid4().hex}"
        database.run(f"CREATE ROLE {self.name} LOGIN IN ROLE {roles}")
        self.uri = database.uri_as(self.name)

    def end(self):
        self._database.run(f"DROP OWNED BY {self.name}; DROP ROLE {self.name}")

    def run(self, sql):
        """The rows of the last statement, as tuples of text."""
        try:
            return run_sql(self.uri, sql)
        except psycopg2.Error as error:
            raise Refused(error) from error

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
