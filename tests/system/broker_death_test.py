"""A broker that is killed in mid-work loses nothing that it answered, and nothing that it acked
runs again."""

import concurrent.futures
import threading
import unittest

import grpc

from support.case import SystemTest
from support.client import Client, broker_pb2, new_id

QUEUE = "survivors"
PRODUCERS = 4
CALLS = 60
TASKS_PER_CALL = 5
WORKERS = 8
TASKS = PRODUCERS * CALLS * TASKS_PER_CALL


class BrokerDeath(SystemTest):
    def setUp(self):
        super().setUp()
        self.broker = self.start_broker()
        self.client_of(self.broker).create_queue(QUEUE)
        self.changed = threading.Condition()
        self.enqueued = []  # ids that an answer named
        self.acked = set()  # ids whose ack was answered
        self.again = []     # ids that were leased after that
        self.over = False

    def persistently(self, call):
        """Repeats a call, at the broker of the moment, until it is answered or all is over."""
        while not self.over:
            broker = self.broker
            client = Client(broker.address)
            try:
                return call(client)
            except grpc.RpcError as error:
                self.assertIn(error.code(), (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.UNKNOWN),
                              error)
                with self.changed:
                    self.changed.wait_for(lambda: self.broker is not broker or self.over, 0.1)
            finally:
                client.close()
        return None

    def produce(self, number):
        for call in range(CALLS):
            tasks = [broker_pb2.NewTask(payload=f"{number}.{call}.{task}".encode())
                     for task in range(TASKS_PER_CALL)]
            request_id = new_id()
            results = self.persistently(
                lambda client: client.enqueue_all(QUEUE, tasks, request_id))
            with self.changed:
                self.enqueued += [result.task_id for result in results]
                self.changed.notify_all()

    def work(self):
        worker_id = new_id()
        while not self.over:
            request_id = new_id()
            tasks = self.persistently(lambda client: client.lease(
                QUEUE, max_tasks=3, wait=1, worker_id=worker_id, request_id=request_id))
            with self.changed:
                self.again += [task.task_id for task in tasks or [] if task.task_id in self.acked]
            outcomes = tasks and self.persistently(lambda client: client.ack(*tasks))
            if not outcomes:
                continue
            with self.changed:
                self.acked |= {task.task_id for task, outcome in zip(tasks, outcomes)
                               if outcome in ("SETTLED", "ALREADY_SETTLED")}
                self.changed.notify_all()

    def wait_for_acks(self, count):
        with self.changed:
            self.assertTrue(self.changed.wait_for(lambda: len(self.acked) >= count, 120),
                            f"{len(self.acked)} of {count} acked")

    def replace_broker(self):
        self.broker.kill()
        successor = self.start_broker()
        with self.changed:
            self.broker = successor
            self.changed.notify_all()

    def end(self):
        with self.changed:
            self.over = True
            self.changed.notify_all()

    def test_sigkill_under_load_loses_nothing_and_repeats_nothing(self):
        with concurrent.futures.ThreadPoolExecutor(PRODUCERS + WORKERS) as pool:
            try:
                producers = [pool.submit(self.produce, number) for number in range(PRODUCERS)]
                workers = [pool.submit(self.work) for _ in range(WORKERS)]
                for count in (TASKS // 10, TASKS // 3, TASKS // 2):
                    self.wait_for_acks(count)
                    self.replace_broker()
                for producer in producers:
                    producer.result()
                self.wait_for_acks(TASKS)
            finally:
                self.end()
            for worker in workers:
                worker.result()
        self.assertEqual(self.again, [])
        self.assertEqual(len(self.enqueued), TASKS)
        self.assertEqual(self.acked, set(self.enqueued))
        self.assertEqual(self.database.number("SELECT count(*) FROM skiplane.task"), 0)
        self.assertEqual(
            self.database.run("SELECT count(*), count(DISTINCT task_id) FROM skiplane.history "
                              "WHERE outcome = 1"), [(str(TASKS), str(TASKS))])

    def test_what_a_killed_broker_answered_is_there_after_its_restart(self):
        client = self.client_of(self.broker)
        ids = [client.enqueue(QUEUE, b"%d" % number) for number in range(20)]
        leased = client.lease(QUEUE, max_tasks=5, worker_id="w")
        client.ack(*leased[:2])
        self.replace_broker()
        client = self.client_of(self.broker)
        self.assertEqual([client.state(task_id) for task_id in ids],
                         ["SUCCEEDED"] * 2 + ["LEASED"] * 3 + ["READY"] * 15)
        # The worker outlives its broker: its leases are as good as before.
        self.assertTrue(client.heartbeat("w", 30, *leased[2:]).session_alive)
        self.assertEqual(client.ack(*leased), ["ALREADY_SETTLED"] * 2 + ["SETTLED"] * 3)
        self.assertEqual(len(client.lease(QUEUE, max_tasks=100)), 15)


if __name__ == "__main__":
    unittest.main()
