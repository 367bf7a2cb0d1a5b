"""A broker that is killed in mid-work loses nothing that it answered, and nothing that it acked
runs again: neither of a queue whose tasks are rows, nor of one whose tasks are packed."""

import concurrent.futures
import threading
import unittest

import grpc

from support.case import SystemTest
from support.client import Client, broker_pb2, new_id
from support.packs import ATTEMPTS, PACKING, TASKS, put_packed

QUEUE, PACKED = "survivors", "packed"
PRODUCERS = {QUEUE: 4, PACKED: 2}
CALLS = 60
TASKS_PER_CALL = {QUEUE: 5, PACKED: 16}
WORKERS = {QUEUE: 8, PACKED: 4}
TASKS_PER_LEASE = {QUEUE: 3, PACKED: 16}
COUNTS = {queue: PRODUCERS[queue] * CALLS * TASKS_PER_CALL[queue] for queue in PRODUCERS}
COUNT = sum(COUNTS.values())


class BrokerDeath(SystemTest):
    def setUp(self):
        super().setUp()
        self.broker = self.start_broker()
        self.client_of(self.broker).create_queue(QUEUE)
        self.client_of(self.broker).create_queue(PACKED, **PACKING)
        self.changed = threading.Condition()
        self.enqueued = []  # ids that an answer named
        self.acked = set()  # ids whose ack was answered
        self.acks = dict.fromkeys(COUNTS, 0)
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

    def produce(self, queue, number):
        for call in range(CALLS):
            tasks = [broker_pb2.NewTask(payload=f"{queue}.{number}.{call}.{task}".encode())
                     for task in range(TASKS_PER_CALL[queue])]
            request_id = new_id()
            results = self.persistently(
                lambda client: client.enqueue_all(queue, tasks, request_id))
            with self.changed:
                self.enqueued += [result.task_id for result in results]
                self.changed.notify_all()

    def work(self, queue):
        worker_id = new_id()
        while not self.over:
            request_id = new_id()
            tasks = self.persistently(lambda client: client.lease(
                queue, max_tasks=TASKS_PER_LEASE[queue], wait=1, worker_id=worker_id,
                request_id=request_id))
            with self.changed:
                self.again += [task.task_id for task in tasks or [] if task.task_id in self.acked]
            outcomes = tasks and self.persistently(lambda client: client.ack(*tasks))
            if not outcomes:
                continue
            with self.changed:
                done = {task.task_id for task, outcome in zip(tasks, outcomes)
                        if outcome in ("SETTLED", "ALREADY_SETTLED")}
                self.acked |= done
                self.acks[queue] += len(done)
                self.changed.notify_all()

    def wait_for_acks(self, share):
        """Of both queues."""
        with self.changed:
            self.assertTrue(self.changed.wait_for(
                lambda: all(self.acks[queue] >= share * COUNTS[queue] for queue in COUNTS), 120),
                            f"{self.acks} of {COUNTS} acked")

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
        threads = sum(PRODUCERS.values()) + sum(WORKERS.values())
        with concurrent.futures.ThreadPoolExecutor(threads) as pool:
            try:
                producers = [pool.submit(self.produce, queue, number)
                             for queue in COUNTS for number in range(PRODUCERS[queue])]
                workers = [pool.submit(self.work, queue)
                           for queue in COUNTS for _ in range(WORKERS[queue])]
                for share in (1 / 10, 1 / 3, 1 / 2):
                    self.wait_for_acks(share)
                    self.replace_broker()
                for producer in producers:
                    producer.result()
                self.wait_for_acks(1)
            finally:
                self.end()
            for worker in workers:
                worker.result()
        self.assertEqual(self.again, [])
        self.assertEqual(len(self.enqueued), COUNT)
        self.assertEqual(self.acked, set(self.enqueued))
        self.assertEqual(self.database.number(f"SELECT count(*) FROM {TASKS}"), 0)
        self.assertEqual(self.database.number("SELECT count(*) FROM skiplane.task_pack"), 0)
        self.assertEqual(
            self.database.run(f"SELECT count(*), count(DISTINCT (lane, task_id)) FROM {ATTEMPTS}"
                              " WHERE outcome = 1"), [(str(COUNT), str(COUNT))])
        self.assertGreater(
            self.database.number("SELECT count(*) FROM skiplane.packed_attempt"), 0)

    def test_what_a_killed_broker_answered_is_there_after_its_restart(self):
        client = self.client_of(self.broker)
        payloads = [b"%d" % number for number in range(20)]
        ids = {QUEUE: [client.enqueue(QUEUE, payload) for payload in payloads],
               PACKED: put_packed(self.database, client, PACKED, payloads)}
        leased = {queue: client.lease(queue, max_tasks=5, worker_id="w") for queue in ids}
        for tasks in leased.values():
            client.ack(*tasks[:2])
        self.replace_broker()
        client = self.client_of(self.broker)
        for queue, tasks in leased.items():
            self.assertEqual([client.state(task_id) for task_id in ids[queue]],
                             ["SUCCEEDED"] * 2 + ["LEASED"] * 3 + ["READY"] * 15)
            # The worker outlives its broker: its leases are as good as before.
            self.assertTrue(client.heartbeat("w", 30, *tasks[2:]).session_alive)
            self.assertEqual(client.ack(*tasks), ["ALREADY_SETTLED"] * 2 + ["SETTLED"] * 3)
            self.assertEqual(len(client.lease(queue, max_tasks=100)), 15)


if __name__ == "__main__":
    unittest.main()
