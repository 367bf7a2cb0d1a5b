"""A task belongs to one worker, however many brokers and workers want it."""

import concurrent.futures
import threading
import unittest

from support.case import SystemTest
from support.client import broker_pb2, new_id
from support.packs import ATTEMPTS, TASKS as ALL_TASKS

QUEUE = "shared"
WORKERS = 64
TASKS = 20000
TASKS_PER_CALL = 1000


class Exclusive(SystemTest):
    def setUp(self):
        super().setUp()
        self.brokers = [self.start_broker(), self.start_broker()]
        self.client_of(self.brokers[0]).create_queue(QUEUE)
        self.lock = threading.Lock()
        self.leased = []
        self.outcomes = []
        self.all_leased = threading.Event()

    def enqueue(self, number):
        first = number * TASKS_PER_CALL
        tasks = [broker_pb2.NewTask(payload=str(task).encode())
                 for task in range(first, first + TASKS_PER_CALL)]
        self.client_of(self.brokers[number % 2]).enqueue_all(QUEUE, tasks)

    def work(self, number):
        client = self.client_of(self.brokers[number % 2])
        worker_id = new_id()
        while not self.all_leased.is_set():
            tasks = client.lease(QUEUE, max_tasks=10, wait=1, worker_id=worker_id)
            outcomes = client.ack(*tasks) if tasks else []
            with self.lock:
                self.leased += [task.payload for task in tasks]
                self.outcomes += outcomes
                if len(self.leased) >= TASKS:
                    self.all_leased.set()

    def test_two_brokers_on_one_queue_never_lease_a_task_twice(self):
        with concurrent.futures.ThreadPoolExecutor(WORKERS + 2) as pool:
            calls = [pool.submit(self.work, number) for number in range(WORKERS)]
            calls += [pool.submit(self.enqueue, number)
                      for number in range(TASKS // TASKS_PER_CALL)]
            for call in calls:
                call.result()
        self.assertEqual(len(self.leased), TASKS)
        self.assertEqual(len(set(self.leased)), TASKS)
        self.assertEqual(set(self.outcomes), {"SETTLED"})
        self.assertEqual(self.database.number(f"SELECT count(*) FROM {ALL_TASKS}"), 0)
        self.assertEqual(
            self.database.run("SELECT count(*), count(DISTINCT task_id), max(attempt) "
                              f"FROM {ATTEMPTS} WHERE outcome = 1"),
            [(str(TASKS), str(TASKS), "1")])
        for broker in self.brokers:  # both took part, or this was no test of two
            name = f'skiplane_tasks_leased_total{{kind="first",queue="{QUEUE}"}}'
            self.assertGreater(broker.metrics()[name], 0)


if __name__ == "__main__":
    unittest.main()
