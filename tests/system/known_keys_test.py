"""Many callers renew the same known keys, each in an order of its own, beside workers who finish
their tasks, at two brokers: nobody meets a deadlock, and PostgreSQL's log stays short."""

import itertools
import os
import random
import threading
import unittest

from support.case import SystemTest
from support.client import Client, broker_pb2
from support.cluster import Cluster
from support.database import Database

QUEUE = "renewed"
KEYS = 60
PRODUCERS = 6
WORKERS = 2
CALLS = int(os.environ.get("SKIPLANE_KEYED_CALLS", "12"))
POLICIES = ("RERUN_IF_NEWER", "REPLACE_WAITING", "KEEP_UNFINISHED")


class KnownKeys(SystemTest):
    def setUp(self):
        super().setUp()
        self.cluster = Cluster()
        self.addCleanup(self.cluster.end)
        self.database = Database(self.cluster)
        self.versions = itertools.count(1)
        self.is_over = threading.Event()
        self.failures = []

    def guarded(self, work, *arguments):
        def run():
            try:
                work(*arguments)
            except Exception as error:  # pylint: disable=broad-exception-caught
                self.failures.append(error)
        return threading.Thread(target=run)

    def task(self, key, policy):
        return broker_pb2.NewTask(key=f"key-{key}", version=next(self.versions), payload=b"x",
                                  key_policy=f"KEY_POLICY_{policy}")

    def produce(self, client, number):
        order = random.Random(number)
        keys = list(range(KEYS))
        for call in range(CALLS):
            order.shuffle(keys)
            policy = POLICIES[(number + call) % len(POLICIES)]
            client.enqueue_all(QUEUE, [self.task(key, policy) for key in keys])

    def work(self, client, number):
        order = random.Random(number)
        while not self.is_over.is_set():
            tasks = list(client.lease(QUEUE, max_tasks=KEYS // 2, worker_id=f"w{number}", wait=1))
            order.shuffle(tasks)
            if not tasks:
                continue
            if order.randrange(2):
                client.ack(*tasks)
            else:  # some end, some run again: both in one statement
                for task in tasks[::5]:
                    client.nack(task)
                client.ack(*tasks)

    def run_against(self, brokers):
        clients = [Client(broker.address) for broker in brokers]
        for client in clients:
            self.addCleanup(client.close)
        clients[0].create_queue(QUEUE)
        clients[0].enqueue_all(QUEUE, [self.task(key, "KEEP") for key in range(KEYS)])
        workers = [self.guarded(self.work, clients[i % len(clients)], i) for i in range(WORKERS)]
        producers = [self.guarded(self.produce, clients[i % len(clients)], i)
                     for i in range(PRODUCERS)]
        for thread in workers + producers:
            thread.start()
        for thread in producers:
            thread.join()
        self.is_over.set()
        for thread in workers:
            thread.join()
        self.assertEqual(self.failures, [])
        self.assertNotIn("deadlock detected", self.cluster.log())

    def test_one_broker(self):
        self.run_against([self.start_broker()])

    def test_two_brokers(self):
        self.run_against([self.start_broker(), self.start_broker()])

    def test_a_conflict_leaves_the_call_in_the_log_and_no_text_of_sql(self):
        _, client = self.start()
        client.create_queue(QUEUE)
        client.enqueue_all(QUEUE, [self.task(1, "KEEP")])
        self.database.run("DELETE FROM skiplane.task")  # the key tells of a task that is not there
        before = len(self.cluster.log())
        self.assert_refused("ABORTED", "TRANSACTION_CONFLICT", client.enqueue_all, QUEUE,
                            [self.task(1, "REPLACE_WAITING")])
        self.cluster.wait_for_log("changed beside the call")
        log = self.cluster.log()[before:]
        self.assertIn("enqueue_once", log)
        self.assertNotIn("INSERT INTO", log)


if __name__ == "__main__":
    unittest.main()
