"""The views of the schema tell people what the API tells, and the examples of docs/SQL.md work."""

import os
import re
import unittest

from support import stubs
from support.case import SystemTest
from support.client import admin_pb2, seconds
from support.producer import Producer

QUEUE = "seen"


class SqlView(SystemTest):
    def setUp(self):
        super().setUp()
        self.broker, self.client = self.start()
        self.producer = Producer(self.database, "skiplane_producer, skiplane_reader")
        self.addCleanup(self.producer.end)

    def test_every_state_of_a_task(self):
        self.client.create_queue(QUEUE, stages=[{"name": "a"}, {"name": "b"}])
        failed = self.producer.enqueue(QUEUE, b"secret", key="bad", priority=-9)
        done = self.producer.enqueue(QUEUE, key="done", priority=-8)
        held = self.producer.enqueue(QUEUE, key="held", priority=-7, stage="b")
        later = self.producer.enqueue(QUEUE, key="later", period="1 day", delay="1 hour")
        retried = self.producer.enqueue(QUEUE, key="retried", priority=-6)
        ready = self.producer.enqueue(QUEUE, key="ready", max_attempts=3)
        for _ in range(2):
            [task] = self.client.lease(QUEUE, stage="a", worker_id="id", worker_name="ada")
            if task.task_id == failed:
                self.client.nack(task, "FAIL", error={"type": "Broken", "text": b"secret"})
            else:
                self.client.ack_results(task, finish={})
        self.client.lease(QUEUE, stage="b", worker_id="id", worker_name="ada")
        [task] = self.client.lease(QUEUE, stage="a", worker_id="id", worker_name="ada")
        self.client.nack(task, retry_delay=seconds(3600), error={"type": "Slow"})
        self.assertEqual(
            sorted(self.producer.run(
                "SELECT task_id, key, state, stage, priority, attempt_count, max_attempts,"
                " worker_name, lease_time IS NOT NULL, period, last_error_type"
                " FROM skiplane.tasks")),
            sorted([(held, "held", "leased", "b", "-7", "1", "10", "ada", "t", "", ""),
                    (later, "later", "scheduled", "a", "0", "0", "10", "", "f", "24:00:00", ""),
                    (retried, "retried", "scheduled", "a", "-6", "1", "10", "", "f", "", "Slow"),
                    (ready, "ready", "ready", "a", "0", "0", "3", "", "f", "", "")]))
        self.assertEqual(
            self.producer.run("SELECT task_id, key, stage, attempt_count, error_type,"
                              " end_time <= now()"
                              " FROM skiplane.failed_tasks"),
            [(failed, "bad", "a", "1", "Broken", "t")])
        self.assertEqual(
            self.producer.run("SELECT task_id, attempt, outcome, ends_task, worker_name,"
                              " error_type FROM skiplane.attempts ORDER BY end_time"),
            [(failed, "1", "failed", "t", "ada", "Broken"),
             (done, "1", "succeeded", "t", "ada", ""),
             (retried, "1", "retried", "f", "ada", "Slow")])
        self.assertEqual(self.producer.run("SELECT name, state, client_version, concurrency,"
                                           " command FROM skiplane.workers"),
                         [("ada", "alive", "", "0", "run")])
        counts = self.client.queue(QUEUE).counts
        self.assertEqual(
            self.producer.run("SELECT queue, pause_mode, lane_count, scheduled_count, ready_count,"
                              " leased_count, succeeded_count, failed_count"
                              " FROM skiplane.queues"),
            [(QUEUE, "none", "1", "2", "1", "1", "1", "1")])
        self.assertEqual((counts.scheduled_count, counts.ready_count, counts.leased_count,
                          counts.succeeded_count, counts.failed_count), (2, 1, 1, 1, 1))

    def test_recurrences_and_requests_of_operators_and_producers(self):
        self.client.create_queue(QUEUE)
        for catch_up in ("skip_missed", "run_all"):
            self.producer.enqueue(QUEUE, key=catch_up, period="1 day", catch_up=catch_up)
        self.producer.enqueue(QUEUE, key="rerun", version=1)
        self.producer.enqueue(QUEUE, key="cancel")
        self.client.lease(QUEUE, max_tasks=4)
        self.producer.enqueue(QUEUE, key="rerun", version=2, key_policy="rerun_if_newer")
        [(cancelled,)] = self.producer.run(
            "SELECT task_id FROM skiplane.tasks WHERE key = 'cancel'")
        self.client.admin.CancelTask(admin_pb2.CancelTaskRequest(task_id=cancelled), timeout=60)
        self.assertEqual(
            self.producer.run("SELECT key, catch_up, rerun_pending, cancel_requested"
                              " FROM skiplane.tasks ORDER BY key"),
            [("cancel", "", "f", "t"), ("rerun", "", "t", "f"), ("run_all", "run_all", "f", "f"),
             ("skip_missed", "skip_missed", "f", "f")])

    def test_a_worker_has_one_handle_everywhere_which_is_not_its_session(self):
        self.client.create_queue(QUEUE)
        self.producer.enqueue(QUEUE)
        [task] = self.client.lease(QUEUE, worker_id="id", worker_name="ada")
        held = self.producer.run("SELECT worker_handle FROM skiplane.tasks")
        self.client.ack(task)
        self.assertEqual(self.producer.run("SELECT worker_handle FROM skiplane.attempts"), held)
        self.assertEqual(self.producer.run("SELECT worker_handle FROM skiplane.workers"), held)
        self.assertRegex(held[0][0], "^[0-9a-f]{16}$")
        [(session,)] = self.database.run("SELECT id FROM skiplane.worker_session")
        self.assertNotIn(held[0][0], session.replace("-", ""))

    def test_a_queue_without_tasks_and_a_paused_one(self):
        self.client.create_queue("empty", lane_count=3)
        self.client.pause("empty", "BOTH", "why")
        self.assertEqual(self.producer.run("SELECT pause_mode, pause_reason, lane_count,"
                                           " ready_count"
                                           " FROM skiplane.queues"), [("both", "why", "3", "0")])

    def test_no_view_shows_what_proves_a_lease_or_is_private(self):
        columns = {name for (name,) in self.database.run(
            "SELECT DISTINCT a.attname FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid"
            " WHERE c.relnamespace = 'skiplane'::regnamespace AND c.relkind = 'v'"
            " AND has_table_privilege('skiplane_reader', c.oid, 'SELECT')")}
        self.assertIn("task_id", columns)
        self.assertEqual(columns & {"session", "id", "worker_id", "lease_number", "payload",
                                    "headers", "result", "error_text"}, set())

    def test_the_examples_of_the_document_work(self):
        self.client.create_queue("mail")
        with open(os.path.join(stubs.ROOT, "docs", "SQL.md"), encoding="utf-8") as file:
            grant, *examples = re.findall(r"(?ms)^```sql\n(.*?)^```", file.read())
        self.assertGreater(len(examples), 4)
        self.database.run(grant.replace("shop", self.producer.name))
        self.database.run("CREATE TABLE public.shop_order (id int PRIMARY KEY, customer text);"
                          f"GRANT SELECT, INSERT ON public.shop_order TO {self.producer.name}")
        for example in examples:
            with self.subTest(example):
                self.producer.run(example)
        tasks = self.client.lease("mail", wait=0, max_tasks=10)
        self.assertEqual([task.payload for task in tasks],
                         [b"order 17", "Gr\u00fc\u00dfe".encode(), b"news for Ada"])
        counts = self.client.queue("mail").counts
        self.assertEqual((counts.scheduled_count, counts.leased_count), (2, 3))


if __name__ == "__main__":
    unittest.main()
