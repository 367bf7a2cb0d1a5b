"""A worker that ends its session leaves nothing behind."""

import itertools
import threading
import time
import unittest

from support.case import SystemTest
from support.client import broker_pb2, new_id
from support.process import GENEROUS_S

WORKERS = 6
CANCELS = 50  # each


class SessionEnd(SystemTest):
    def setUp(self):
        super().setUp()
        self.broker, self.client = self.start()

    def put(self, queue, count):
        """Tasks that a single charged attempt would fail."""
        for first in range(0, count, 1000):
            tasks = [self.client.new_task(max_attempts=1) for _ in range(min(1000, count - first))]
            self.client.enqueue_all(queue, tasks)

    def lease(self, queue, worker, count, **fields):
        return self.client.lease(queue, worker_id=worker, max_tasks=count, duration=600, **fields)

    def end(self, worker, *tasks, client=None):
        leases = [broker_pb2.HeldLease(lease_token=task.lease_token) for task in tasks]
        return (client or self.client).broker.Heartbeat(broker_pb2.HeartbeatRequest(
            worker_id=worker, leases=leases, end_session=True), timeout=60)

    def assert_all_ready(self, count):
        """All of them wait, uncharged: none is held, none failed."""
        self.database.eventually("SELECT count(*) FROM skiplane.task WHERE state = 2", "0")
        self.assertEqual(
            self.database.run("SELECT (SELECT count(*) FROM skiplane.task WHERE state = 1 "
                              "AND attempt = 0 AND error_type IS NULL), "
                              "(SELECT count(*) FROM skiplane.task_failed), "
                              "(SELECT count(*) FROM skiplane.history)"),
            [(str(count), "0", "0")])

    def test_all_that_it_holds_is_free_at_once_in_its_place_and_uncharged(self):
        self.client.create_queue("a", lane_count=4)
        self.client.create_queue("b")
        self.put("a", 40)
        self.put("b", 3)
        held = self.lease("b", "w", 3)
        while tasks := self.lease("a", "w", 7, wait=0):
            held += tasks
        self.assertEqual(len(held), 43)
        answer = self.end("w", held[0])
        self.assertFalse(answer.session_alive)
        self.assertEqual(answer.results[0].state, broker_pb2.LEASE_STATE_LOST)
        self.assert_nothing_leased()
        self.assertFalse(self.client.heartbeat("w", 600).session_alive)
        again = self.lease("b", "w", 3, wait=0)  # a new session under the same id
        self.assertEqual([task.task_id for task in again], [task.task_id for task in held[:3]])
        self.assertEqual({task.attempt for task in again}, {1})
        self.assertEqual(self.client.ack(held[0], *again), ["LEASE_LOST"] + 3 * ["SETTLED"])

    def test_its_tasks_wake_who_waits_for_them_here_and_elsewhere(self):
        self.client.create_queue("q")
        self.put("q", 2)
        self.lease("q", "w", 2)
        other = self.start_broker()
        waiting = [self.park(self.broker, self.client, "q"),
                   self.park(other, self.client_of(other), "q")]
        self.end("w")
        self.assertEqual([len(call.result().tasks) for call in waiting], [1, 1])

    def test_a_repeat_does_no_harm_nor_does_the_end_of_one_that_never_was(self):
        self.client.create_queue("q")
        self.put("q", 1)
        self.lease("q", "w", 1)
        for _ in range(3):
            self.assertFalse(self.end("w").session_alive)
            self.assertFalse(self.end("stranger").session_alive)
        self.assert_all_ready(1)
        self.assertEqual(len(self.lease("q", "w", 1)), 1)
        self.assertTrue(self.client.heartbeat("w", 600).session_alive)

    def test_thousands_of_leases_go_in_one_call(self):
        self.client.create_queue("big", lane_count=3)
        self.put("big", 6000)
        held = 0
        while tasks := self.lease("big", "w", 50, wait=0):
            held += len(tasks)
        self.assertEqual(held, 6000)
        self.end("w")
        self.assert_nothing_leased()
        self.assert_all_ready(6000)

    def test_it_can_be_ended_at_another_broker(self):
        self.client.create_queue("q")
        self.put("q", 2)
        self.lease("q", "w", 1)
        other = self.client_of(self.start_broker())
        self.assertFalse(self.end("w", client=other).session_alive)
        self.assert_nothing_leased()
        # This broker still believes, for a second, that the session lives. What it leases for it
        # does not last.
        end = time.monotonic() + GENEROUS_S
        for worker in map(str, itertools.count()):
            self.assertLess(time.monotonic(), end, "it never believed that")
            self.lease("q", worker, 1)
            self.end(worker, client=other)
            self.lease("q", worker, 1)
            if not self.client.heartbeat(worker, 600).session_alive:
                break
            self.end(worker)
        self.assertEqual(len(self.lease("q", worker, 1)), 1)
        self.assertTrue(self.client.heartbeat(worker, 600).session_alive)

    def cancel_leases(self, client, worker, with_request_id):
        """Each waits, and is cancelled while a task arrives for it."""
        for number in range(CANCELS):
            fields = {"request_id": new_id()} if with_request_id else {}
            parked = client.lease_later(worker, worker_id=worker, duration=600, **fields)
            enqueue = client.broker.Enqueue.future(broker_pb2.EnqueueRequest(
                queue=worker, tasks=[broker_pb2.NewTask(max_attempts=1)]), timeout=90)
            if number % 3 == 0:
                enqueue.result()
            parked.cancel()
            enqueue.result()
        self.end(worker, client=client)

    def assert_cancels_strand_nothing(self, with_request_id):
        clients = [self.client, self.client_of(self.start_broker())]
        threads = []
        for number in range(WORKERS):
            self.client.create_queue(f"q{number}")
            threads.append(threading.Thread(target=self.cancel_leases, args=(
                clients[number % 2], f"q{number}", with_request_id)))
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assert_all_ready(WORKERS * CANCELS)

    def test_300_cancels_at_the_instant_of_arrival_strand_no_task(self):
        self.assert_cancels_strand_nothing(with_request_id=True)

    def test_300_cancels_without_a_request_id_strand_none_either(self):
        self.assert_cancels_strand_nothing(with_request_id=False)


if __name__ == "__main__":
    unittest.main()
