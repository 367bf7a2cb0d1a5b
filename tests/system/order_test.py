"""Which task comes first."""

import time
import unittest

from support.case import SystemTest
from support.client import broker_pb2, seconds
from support.process import GENEROUS_S

QUEUE = "order"
HOUR = 3600


class Order(SystemTest):
    def setUp(self):
        super().setUp()
        self.broker, self.client = self.start()
        self.client.create_queue(QUEUE)

    def payloads(self, count):
        """In the order of single leases, so that each one is a choice of its own."""
        return [self.client.lease(QUEUE)[0].payload for _ in range(count)]

    def test_an_urgent_task_overtakes_those_that_wait(self):
        for number in range(20):
            self.client.enqueue(QUEUE, b"plain%d" % number)
        first = self.payloads(2)
        self.client.enqueue(QUEUE, b"urgent", priority=-5)
        self.client.enqueue(QUEUE, b"idle", priority=7)
        self.assertEqual(first + self.payloads(3),
                         [b"plain0", b"plain1", b"urgent", b"plain2", b"plain3"])
        rest = self.client.lease(QUEUE, max_tasks=100)
        self.assertEqual(rest[-1].payload, b"idle")

    def test_an_urgent_task_of_the_other_broker_overtakes(self):
        other = self.client_of(self.start_broker())
        for number in range(5):
            self.client.enqueue(QUEUE, b"plain%d" % number)
        self.payloads(1)
        other.enqueue(QUEUE, b"urgent", priority=-32768)
        # Its notification may still be on its way; a rescan finds it at the latest.
        end = time.monotonic() + GENEROUS_S
        [task] = self.client.lease(QUEUE)
        while task.payload != b"urgent":
            self.assertLess(time.monotonic(), end)
            self.client.nack(task, "RELEASE")
            [task] = self.client.lease(QUEUE)
        self.assertEqual(self.payloads(1), [b"plain1"])

    def test_tasks_of_one_call_come_in_its_order(self):
        payloads = [b"%d" % number for number in range(100)]
        self.client.enqueue_all(
            QUEUE, [broker_pb2.NewTask(payload=payload) for payload in payloads])
        leased = self.client.lease(QUEUE, max_tasks=100)
        self.assertEqual([task.payload for task in leased], payloads)

    def test_the_run_time_decides_within_a_priority(self):
        for hours in (3, 1, 4, 2):
            self.client.enqueue(QUEUE, b"%d" % hours, delay=seconds(hours * HOUR))
        self.client.enqueue(QUEUE, b"urgent", delay=seconds(4 * HOUR), priority=-1)
        self.assertEqual(self.client.lease(QUEUE, wait=0), [])
        self.database.run("UPDATE skiplane.task"
                          " SET schedule_time = schedule_time - interval '5 hours'")
        leased = self.client.lease(QUEUE, max_tasks=10)
        self.assertEqual([task.payload for task in leased], [b"urgent", b"1", b"2", b"3", b"4"])

    def test_strict_order_serves_the_first_queue_first(self):
        self.client.create_queue("second")
        for number in range(3):
            self.client.enqueue("second", b"second%d" % number, priority=-9)
            self.client.enqueue(QUEUE, b"first%d" % number)
        request = broker_pb2.LeaseRequest(
            queues=[broker_pb2.LeaseQueue(name=QUEUE), broker_pb2.LeaseQueue(name="second")],
            queue_order=broker_pb2.QUEUE_ORDER_STRICT, max_tasks=1, wait=seconds(60))
        leased = [self.client.broker.Lease(request, timeout=90).tasks[0].payload
                  for _ in range(6)]
        self.assertEqual(leased, [b"first0", b"first1", b"first2",
                                  b"second0", b"second1", b"second2"])


if __name__ == "__main__":
    unittest.main()
