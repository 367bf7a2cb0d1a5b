"""Packed tasks: how to make some for sure, and where tests look that see rows and packs alike."""

import time

from support.client import DEADLINE_S, admin_pb2
from support.process import GENEROUS_S

# Settings of a queue.
PACKING = {"packing": "PACKING_AUTOMATIC"}
ROWS = {"packing": "PACKING_OFF"}

# What a FROM names: each has an alias of its own.
TASKS = ("(SELECT lane, id, state, attempt, lease_time, session FROM skiplane.task UNION ALL"
         " SELECT lane, id, state, attempt, lease_time, session FROM skiplane.packed_task) AS t")
ATTEMPTS = ("(SELECT lane, task_id, attempt, outcome, error_type, lease_time, end_time, session"
            " FROM skiplane.history UNION ALL"
            " SELECT lane, task_id, attempt, outcome, error_type, lease_time, end_time, session"
            " FROM skiplane.packed_attempt) AS h")


def packed_count(database):
    return database.number("SELECT count(*) FROM skiplane.packed_task")


def put_packed(database, client, queue, payloads, **fields):
    """The ids of tasks that are in packs, made by one call. A broker packs once it knows that all
    brokers of the database read packs: tasks that it makes before that are deleted again."""
    end = time.monotonic() + GENEROUS_S
    while True:
        before = packed_count(database)
        tasks = [client.new_task(payload, **fields) for payload in payloads]
        task_ids = [result.task_id for result in client.enqueue_all(queue, tasks)]
        if packed_count(database) - before == len(task_ids):
            return task_ids
        for task_id in task_ids:
            client.admin.DeleteTask(admin_pb2.DeleteTaskRequest(task_id=task_id),
                                    timeout=DEADLINE_S)
        assert time.monotonic() < end, "nothing is packed"
