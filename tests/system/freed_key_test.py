"""Keys are freed beside the calls that meet them: each call makes its tasks once, and says so."""

import collections
import threading
import unittest

import grpc

from support.case import SystemTest
from support.client import DEADLINE_S, admin_pb2, broker_pb2, new_id

QUEUE = "freed"
CALLS = 150
CREATED = broker_pb2.ENQUEUE_OUTCOME_CREATED


class FreedKey(SystemTest):
    def setUp(self):
        super().setUp()
        self.broker, self.client = self.start()
        self.client.create_queue(QUEUE)
        self.is_over = threading.Event()
        deleter = threading.Thread(target=self.delete_holders)
        deleter.start()
        self.addCleanup(deleter.join)
        self.addCleanup(self.is_over.set)

    def put(self, *tasks, request_id=""):
        return self.client.enqueue_all(QUEUE, tasks, request_id)

    def delete_holders(self):
        """Of the key that all calls name."""
        while not self.is_over.is_set():
            [held] = self.put(self.client.new_task(key="one"))
            try:
                self.client.admin.DeleteTask(
                    admin_pb2.DeleteTaskRequest(task_id=held.task_id), timeout=DEADLINE_S)
            except grpc.RpcError:
                pass  # a worker or another call was faster

    def assert_each_made_once(self, column, wanted):
        rows = self.database.run(f"SELECT {column} FROM skiplane.task"
                                 " WHERE key IS DISTINCT FROM 'one'")
        self.assertEqual(collections.Counter(row[0] for row in rows),
                         collections.Counter(wanted))

    def test_a_call_makes_its_other_tasks_once(self):
        payloads = [f"p{number}" for number in range(CALLS)]
        for payload in payloads:
            results = self.put(self.client.new_task(payload.encode()),
                               self.client.new_task(key="one"))
            self.assertEqual(results[0].outcome, CREATED)
        self.assert_each_made_once("convert_from(payload, 'UTF8')", payloads)

    def test_a_call_with_a_request_id_is_not_refused_once_it_is_committed(self):
        for _ in range(CALLS):
            self.put(self.client.new_task(), self.client.new_task(key="one"), request_id=new_id())
        self.assertEqual(self.database.number(
            "SELECT count(*) FROM skiplane.task WHERE key IS NULL"), CALLS)

    def test_a_new_key_is_not_refused_for_the_task_that_the_call_made(self):
        keys = [f"k{number}" for number in range(CALLS)]
        for key in keys:
            results = self.put(self.client.new_task(key=key, key_policy="KEY_POLICY_REJECT"),
                               self.client.new_task(key="one"))
            self.assertEqual(results[0].outcome, CREATED)
        self.assert_each_made_once("key", keys)


if __name__ == "__main__":
    unittest.main()
