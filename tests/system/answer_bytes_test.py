"""Answers to operators end at 3 MiB, whatever was asked for, and the next page goes on behind them;
the broker holds no more than it sends."""

import os
import unittest
from concurrent.futures import ThreadPoolExecutor

import grpc

from support.case import slow
from support.cli import CliTest
from support.client import admin_pb2, bulk_pb2, reason_of, task_pb2

QUEUE = "bulky"
MIB = 1 << 20
ANSWER_MAX = 3 * MIB
PAYLOAD = os.urandom(MIB)
FULL = task_pb2.TASK_VIEW_FULL
BROKER_MAX = 100 * MIB  # beside what it has at the start: a few answers, each in several copies


@slow
class AnswerBytes(CliTest):
    def setUp(self):
        super().setUp()
        self.client.create_queue(QUEUE, keep_payloads=True, keep_results=True, lane_count=2)

    def put(self, count, **fields):
        """Tasks of 1 MiB; their ids."""
        return [self.client.enqueue(QUEUE, PAYLOAD, key=f"k{number}", **fields)
                for number in range(count)]

    def page(self, token="", page_size=1000, **filters):
        """The next page, repeated while the broker has no room for one more."""
        request = admin_pb2.ListTasksRequest(
            filter=bulk_pb2.TaskFilter(queue=QUEUE, **filters), page_size=page_size,
            page_token=token, view=FULL)
        while True:
            try:
                return self.client.admin.ListTasks(request, timeout=90)
            except grpc.RpcError as error:
                if reason_of(error) != "TOO_MANY_CALLS":
                    raise

    def pages(self, **filters):
        pages = [self.page(**filters)]
        while pages[-1].next_page_token:
            pages.append(self.page(pages[-1].next_page_token, **filters))
        return pages

    def assert_pages(self, pages, ids):
        for page in pages:
            self.assertLessEqual(page.ByteSize(), ANSWER_MAX)
        listed = [task.task_id for page in pages for task in page.tasks]
        self.assertEqual((len(listed), set(listed)), (len(ids), set(ids)))

    def make_attempts(self, count):
        """A task with so many finished attempts, each with 1 MiB of payload and of result."""
        self.client.create_queue("tried", keep_payloads=True)
        task_id = self.client.enqueue("tried", PAYLOAD)
        for _ in range(count):
            self.client.nack(self.client.lease("tried")[0], error=task_pb2.TaskError(type="Boom"))
            self.database.make_due()
        self.database.run("UPDATE skiplane.history SET result = payload")
        return task_id

    def test_120_waiting_tasks_of_a_mebibyte(self):
        ids = self.put(120)
        before = self.broker.peak_rss()
        pages = self.pages()
        self.assert_pages(pages, ids)
        self.assertLessEqual(len(pages), 120)
        self.assertTrue(all(page.tasks for page in pages[:-1]))
        if not self.broker.is_sanitized():
            self.assertLess(self.broker.peak_rss() - before, BROKER_MAX)

    def test_many_lists_at_once(self):
        ids = self.put(12)
        before = self.broker.peak_rss()
        with ThreadPoolExecutor(16) as pool:
            for pages in pool.map(lambda _: self.pages(), range(16)):
                self.assert_pages(pages, ids)
        if not self.broker.is_sanitized():
            self.assertLess(self.broker.peak_rss() - before, 2 * BROKER_MAX)

    def test_failed_and_finished_tasks(self):
        failed = self.put(6)
        for _ in failed:
            self.client.nack(self.client.lease(QUEUE)[0], "FAIL",
                             error=task_pb2.TaskError(text=bytes(65536)))
        self.assert_pages(self.pages(states=[task_pb2.TASK_STATE_FAILED]), failed)
        done = [self.client.enqueue(QUEUE, PAYLOAD) for _ in range(5)]
        for _ in range(5):
            self.client.ack(self.client.lease(QUEUE)[0])
        self.assert_pages(self.pages(states=[task_pb2.TASK_STATE_SUCCEEDED]), done)

    def test_a_task_with_eight_kept_attempts(self):
        task_id = self.make_attempts(8)
        request = admin_pb2.GetTaskRequest(task_id=task_id, view=FULL, attempts_page_size=1000)
        attempts = []
        while True:
            answer = self.client.admin.GetTask(request, timeout=90)
            self.assertLess(answer.ByteSize(), 4 * MIB)
            first = not request.attempts_page_token  # the others have the task as BASIC
            self.assertEqual(answer.task.payload, PAYLOAD if first else b"")
            attempts += [attempt.attempt for attempt in answer.attempts]
            if not answer.next_attempts_page_token:
                break
            request.attempts_page_token = answer.next_attempts_page_token
        self.assertEqual(attempts, list(range(8, 0, -1)))
        request.task_id = self.client.enqueue(QUEUE)
        error = self.assert_refused("INVALID_ARGUMENT", "INVALID_FIELD",
                                    self.client.admin.GetTask, request, timeout=90)
        self.assertIn("attempts_page_token", error.details())

    def test_the_command_line_follows_the_pages(self):
        ids = self.put(7)
        listed = self.lines("tasks", "list", QUEUE, "--full", "--limit", "0")
        self.assertEqual({task["task_id"] for task in listed}, set(ids))
        self.assertEqual(len(self.lines("tasks", "list", QUEUE, "--full", "--limit", "5")), 5)
        task_id = self.make_attempts(5)
        [shown] = self.lines("tasks", "show", task_id)
        self.assertEqual([attempt["attempt"] for attempt in shown["attempts"]], [5, 4, 3, 2, 1])
        [shown] = self.lines("tasks", "show", task_id, "--attempts", "4")
        self.assertEqual(len(shown["attempts"]), 4)

    def test_statistics_come_in_pages(self):
        self.database.run("INSERT INTO skiplane.hour_statistics SELECT lane, date_trunc('hour',"
                          " now())"
                          " - h * interval '1 hour', 0, o, 1, 1000, 500, 2000"
                          " FROM (SELECT min(lane) AS lane FROM skiplane.queue_lane) l,"
                          " generate_series(1, 5000) h, unnest('{1,2,3}'::int2[]) o")
        request = admin_pb2.GetStatisticsRequest(queue=QUEUE)
        request.start_time.FromJsonString(
            self.database.value("SELECT to_char(now() - interval '300 days',"
                                " 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')"))
        seen = []
        while True:
            answer = self.client.admin.GetStatistics(request, timeout=90)
            self.assertLessEqual(len(answer.hours), 10_000)
            self.assertLessEqual(answer.ByteSize(), ANSWER_MAX)
            seen += [(hour.start_time.seconds, hour.outcome) for hour in answer.hours]
            if not answer.next_page_token:
                break
            request.page_token = answer.next_page_token
        self.assertEqual((len(seen), seen), (15_000, sorted(set(seen))))
        shown = self.lines("stats", QUEUE, "--since", "7200h")
        self.assertEqual(len(shown), 15_000)


if __name__ == "__main__":
    unittest.main()
