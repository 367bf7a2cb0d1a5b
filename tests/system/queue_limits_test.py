"""Queues that take so many tasks and no more: producers are told when to come again, and nothing
else is kept from going on."""

import time
import unittest

import grpc

from support.by_http import ByHttp
from support.case import SystemTest
from support.client import DEADLINE_S, admin_pb2, broker_pb2, reason_of, retry_delay_of
from support.process import GENEROUS_S

QUEUE = "narrow"
DEPTH = 5


class QueueLimits(SystemTest):
    def setUp(self):
        super().setUp()
        self.broker, self.client = self.start()

    def refusal_of(self, tasks, queue=QUEUE):
        with self.assertRaises(grpc.RpcError) as caught:
            self.client.enqueue_all(queue, [self.client.new_task()] * tasks)
        error = caught.exception
        self.assertEqual(error.code().name, "RESOURCE_EXHAUSTED", error)
        self.assertGreater(retry_delay_of(error), 0)
        return error

    def assert_full(self):
        error = self.refusal_of(1)
        self.assertEqual(reason_of(error), "QUEUE_FULL")
        self.assertIn("max_depth", error.details())

    def fill(self):
        self.client.create_queue(QUEUE, max_depth=DEPTH)
        self.client.enqueue_all(QUEUE, [self.client.new_task()] * DEPTH)
        self.assert_full()

    def enqueue_in_the_end(self):
        end = time.monotonic() + GENEROUS_S
        while True:
            try:
                return self.client.enqueue(QUEUE)
            except grpc.RpcError as error:
                self.assertEqual(reason_of(error), "QUEUE_FULL")
                self.assertLess(time.monotonic(), end, error)

    def test_a_full_queue_lets_its_workers_go_on(self):
        self.fill()
        [task] = self.client.lease(QUEUE, worker_id="w", duration=60)
        self.assertTrue(self.client.heartbeat("w", 60, task).session_alive)
        self.assertEqual(self.client.ack(task), ["SETTLED"])
        self.enqueue_in_the_end()
        self.assert_full()

    def test_an_ack_is_done_and_its_follow_ups_are_made(self):
        self.fill()
        self.client.create_queue("source")
        self.client.enqueue("source")
        [task] = self.client.lease("source")
        further = [broker_pb2.NewTask(payload=b"further", queue=QUEUE)] * 3
        [result] = self.client.ack_results(task, follow_ups=further)
        self.assertEqual(result.outcome, broker_pb2.SETTLE_OUTCOME_SETTLED)
        self.assertEqual(self.client.queue(QUEUE).counts.ready_count, DEPTH + 3)

    def test_a_retry_of_an_operator_goes_beyond(self):
        self.fill()
        [task] = self.client.lease(QUEUE)
        self.client.nack(task, "FAIL")
        self.enqueue_in_the_end()
        self.client.admin.RetryTask(admin_pb2.RetryTaskRequest(task_id=task.task_id),
                                    timeout=DEADLINE_S)
        self.assertEqual(self.client.queue(QUEUE).counts.ready_count, DEPTH + 1)

    def test_a_limit_comes_and_goes_with_the_settings(self):
        self.client.create_queue(QUEUE)
        self.client.enqueue_all(QUEUE, [self.client.new_task()] * DEPTH)
        self.client.update_queue(QUEUE, "max_depth", max_depth=DEPTH)
        self.assert_full()
        self.assertEqual(self.client.queue(QUEUE).settings.max_depth, DEPTH)
        self.client.update_queue(QUEUE, "max_depth")
        self.assertFalse(self.client.queue(QUEUE).settings.HasField("max_depth"))
        self.client.enqueue_all(QUEUE, [self.client.new_task()] * DEPTH)

    def test_a_rate_says_when_the_next_task_is_taken(self):
        self.client.create_queue(QUEUE, max_enqueue_rate=0.01)
        self.client.enqueue(QUEUE)
        error = self.refusal_of(1)
        self.assertEqual(reason_of(error), "ENQUEUE_RATE_EXCEEDED")
        self.assertGreater(retry_delay_of(error), 50)
        self.assertLessEqual(retry_delay_of(error), 100)

    def test_what_never_fits_is_refused_for_good(self):
        self.client.create_queue(QUEUE, max_depth=DEPTH)
        with self.assertRaises(grpc.RpcError) as caught:
            self.client.enqueue_all(QUEUE, [self.client.new_task()] * (DEPTH + 1))
        self.assertEqual((caught.exception.code().name, reason_of(caught.exception)),
                         ("INVALID_ARGUMENT", "REQUEST_TOO_LARGE"))
        self.assertIn("queue: ", caught.exception.details())

    def test_a_queue_is_full_of_bytes(self):
        self.client.create_queue(QUEUE, max_bytes=1000)
        self.client.enqueue(QUEUE, b"x" * 600)
        with self.assertRaises(grpc.RpcError) as caught:
            self.client.enqueue(QUEUE, b"x" * 600)
        self.assertEqual(reason_of(caught.exception), "QUEUE_FULL")
        self.assertIn("max_bytes", caught.exception.details())


class QueueLimitsByHttp(ByHttp, QueueLimits):
    pass


if __name__ == "__main__":
    unittest.main()
