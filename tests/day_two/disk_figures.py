"""Measures what tasks take of a database's disk: waiting, finished and failed, as packs and as rows
of their own, and the WAL of their lives. Run it by with_postgres; --help has more."""

import argparse
import os
import re

import place  # noqa: F401  (first: it finds the others)
from support.client import DEADLINE_S, broker_pb2
from support.packs import PACKING, ROWS, put_packed
from support.stage import stage

PER_CALL = 960  # packs hold 64 tasks, and a call has 1,000 at most
QUEUES = {"packs": PACKING, "rows": ROWS}
TABLES = ("SELECT c.relname, pg_total_relation_size(c.oid) FROM pg_class c WHERE c.relkind = 'r'"
          " AND c.relnamespace = 'skiplane'::regnamespace")


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, default=96000, help="of each kind")
    parser.add_argument("--payload-bytes", type=int, default=200)
    return parser.parse_args()


class Disk:
    """What the database has grown by since the last look."""

    def __init__(self, database):
        self._database = database
        self._tables, self._wal = self._look()

    def _look(self):
        tables = {}
        for name, size in self._database.run(TABLES):
            name = re.sub(r"_\d{8}$", "", name)  # of one day
            tables[name] = tables.get(name, 0) + int(size)
        wal = self._database.number("SELECT pg_current_wal_insert_lsn() - '0/0'")
        return tables, wal

    def grown(self):
        """Bytes by table, and of WAL."""
        before, wal_before = self._tables, self._wal
        self._tables, self._wal = self._look()
        return ({name: size - before.get(name, 0) for name, size in self._tables.items()},
                self._wal - wal_before)


def tell(what, tasks, grown, tables):
    """Only these tables: others are given back within hours."""
    sizes, wal = grown
    parts = ", ".join(f"{name} {sizes[name] / tasks:.0f}" for name in tables)
    total = sum(sizes[name] for name in tables)
    print(f"{what}: {total / tasks:.0f} bytes a task ({parts}), {wal / tasks:.0f} of WAL")


def settle_all(client, queue, tasks, settle):
    left = tasks
    while left > 0:
        leased = client.lease(queue, max_tasks=min(left, 1000), worker_id="w", duration=600)
        settle(leased)
        left -= len(leased)


def fail(client, leased):
    items = [broker_pb2.NackItem(lease_token=task.lease_token,
                                 disposition="NACK_DISPOSITION_FAIL") for task in leased]
    client.broker.Nack(broker_pb2.NackRequest(items=items), timeout=DEADLINE_S)


def measure(client, database, kind, options):
    """`kind` is a queue. Its tasks wait, half of them end well, the others have failed."""
    def payloads(count):
        return [os.urandom(options.payload_bytes) for _ in range(count)]

    client.create_queue(kind, **QUEUES[kind])
    calls = max(1, options.tasks // PER_CALL)
    if kind == "packs":  # from then on each call is packed
        put_packed(database, client, kind, payloads(64))
        settle_all(client, kind, 64, lambda leased: client.ack(*leased))
    disk = Disk(database)
    for _ in range(calls):
        client.enqueue_all(kind, [client.new_task(payload) for payload in payloads(PER_CALL)])
    tasks = calls * PER_CALL
    tell(f"{kind}, waiting", tasks, disk.grown(), ("task", "task_pack"))
    half = tasks // 2
    settle_all(client, kind, half, lambda leased: client.ack(*leased))
    tell(f"{kind}, finished", half, disk.grown(), ("history", "pack_history"))
    settle_all(client, kind, tasks - half, lambda leased: fail(client, leased))
    tell(f"{kind}, failed", tasks - half, disk.grown(), ("history", "pack_history", "task_failed"))


def main():
    options = parse()
    print(f"{options.tasks} tasks of each kind, payloads of {options.payload_bytes} random bytes")
    with stage() as (_, client, database):
        for kind in QUEUES:
            measure(client, database, kind, options)


if __name__ == "__main__":
    main()
