"""Queues whose tasks may share rows: nobody can tell, but by the tables."""

import time
import unittest

from support.case import SystemTest
from support.client import DEADLINE_S, admin_pb2, bulk_pb2, new_id, seconds
from support.packs import ROWS, put_packed
from support.process import GENEROUS_S

QUEUE = "packed"
MANY = 100


class Packing(SystemTest):
    def setUp(self):
        super().setUp()
        self.broker, self.client = self.start()
        self.client.create_queue(QUEUE)

    def packs(self):
        return self.database.number("SELECT count(*) FROM skiplane.task_pack")

    def rows(self):
        return self.database.number("SELECT count(*) FROM skiplane.task")

    def put(self, count=MANY, request_id="", queue=QUEUE, **fields):
        tasks = [self.client.new_task(b"%d" % i, **fields) for i in range(count)]
        results = self.client.enqueue_all(queue, tasks, request_id)
        return [result.task_id for result in results]

    def put_packed(self, **fields):
        return put_packed(self.database, self.client, QUEUE, [b"%d" % i for i in range(MANY)],
                          **fields)

    def counts(self):
        counts = self.client.queue(QUEUE).counts
        return counts.ready_count, counts.leased_count, counts.succeeded_count

    def test_their_life_is_that_of_others(self):
        task_ids = self.put_packed(headers={"a": "b"}, content_type="text/plain")
        self.assertEqual((self.packs(), self.rows()), (2, 0))
        self.assertEqual(self.counts(), (MANY, 0, 0))
        tasks = self.client.lease(QUEUE, max_tasks=MANY, worker_id="w", duration=60)
        self.assertEqual([task.task_id for task in tasks], task_ids)
        self.assertEqual([task.payload for task in tasks], [b"%d" % i for i in range(MANY)])
        self.assertEqual({(task.attempt, task.headers["a"], task.content_type) for task in tasks},
                         {(1, "b", "text/plain")})
        self.assertEqual(self.counts(), (0, MANY, 0))
        self.assertEqual(self.client.ack(*tasks[::2]), ["SETTLED"] * (MANY // 2))
        self.assertEqual(self.client.ack(*tasks[::2]), ["ALREADY_SETTLED"] * (MANY // 2))
        self.client.nack(tasks[1], "RETRY")
        self.client.nack(tasks[3], "RELEASE")
        self.client.nack(tasks[5], "FAIL")
        self.assertEqual([self.client.state(task_ids[i]) for i in (0, 1, 3, 5, 7)],
                         ["SUCCEEDED", "SCHEDULED", "READY", "FAILED", "LEASED"])
        [again] = self.client.lease(QUEUE)
        self.assertEqual((again.task_id, again.attempt), (task_ids[3], 1))
        self.assertEqual(self.client.ack(again, *tasks[7::2]), ["SETTLED"] * 48)
        self.assertEqual((self.packs(), self.rows()), (0, 1))
        self.assertEqual(self.counts(), (0, 0, 98))

    def test_an_operator_changes_one_of_them(self):
        task_ids = self.put_packed()
        self.client.admin.CancelTask(admin_pb2.CancelTaskRequest(task_id=task_ids[1]),
                                     timeout=DEADLINE_S)
        listed = self.client.admin.ListTasks(
            admin_pb2.ListTasksRequest(filter=bulk_pb2.TaskFilter(queue=QUEUE)),
            timeout=DEADLINE_S).tasks
        self.assertEqual([task.task_id for task in listed], [task_ids[0]] + task_ids[2:])
        tasks = self.client.lease(QUEUE, max_tasks=MANY)
        self.assertEqual([task.task_id for task in tasks], [task_ids[0]] + task_ids[2:])

    def test_a_repeat_makes_nothing(self):
        self.put_packed()
        request_id = new_id()
        first = self.put(request_id=request_id)
        self.assertEqual(self.put(request_id=request_id), first)
        self.assertEqual(self.counts()[0], 2 * MANY)

    def test_a_lost_worker_s_tasks_run_again(self):
        task_ids = self.put_packed()
        self.client.lease(QUEUE, max_tasks=60, worker_id="w", duration=1)
        self.database.expire_sessions()
        tasks = []
        while len(tasks) < MANY:
            tasks += self.client.lease(QUEUE, max_tasks=MANY)
        self.assertEqual({task.task_id for task in tasks}, set(task_ids))
        self.assertEqual(sum(task.attempt for task in tasks), MANY + 60)

    def test_few_or_special_tasks_have_rows_of_their_own(self):
        self.put_packed()
        packs = self.packs()
        self.put(15)
        self.put(20, delay=seconds(60))
        self.put(20)
        self.client.create_queue("other", **ROWS)
        self.put(queue="other")
        self.client.create_queue("kept", keep_payloads=True)
        self.put(queue="kept")
        self.assertEqual(self.packs() - packs, 1)  # of the call whose tasks are ordinary

    def test_what_the_settings_keep_is_kept_of_packed_tasks_too(self):
        [first, *_] = self.put_packed()
        tasks = self.client.lease(QUEUE, max_tasks=MANY)
        self.client.update_queue(QUEUE, "keep_payloads", keep_payloads=True)
        self.assertEqual(self.client.ack(*tasks), ["SETTLED"] * MANY)
        attempts = self.client.admin.GetTask(
            admin_pb2.GetTaskRequest(task_id=first, view="TASK_VIEW_FULL", attempts_page_size=9),
            timeout=DEADLINE_S).attempts
        self.assertEqual([attempt.payload for attempt in attempts], [b"0"])

    def test_while_an_older_broker_runs_nothing_is_packed(self):
        self.put_packed()
        self.database.run(
            "INSERT INTO skiplane.broker (id, name, expire_time) "
            "VALUES (gen_random_uuid(), 'older', now() + interval '1 hour')")
        end = time.monotonic() + GENEROUS_S
        while True:
            packs = self.packs()
            self.put()
            if self.packs() == packs:
                return
            self.assertLess(time.monotonic(), end)


if __name__ == "__main__":
    unittest.main()
