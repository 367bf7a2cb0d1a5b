"""A Lease is filled from all the lanes, stages and queues that it names."""

import unittest

from support.by_http import ByHttp
from support.case import SystemTest
from support.client import (DEADLINE_S, attempts_of, broker_pb2, new_id, queue_pb2, seconds)

WAIT_S = 60


def request(*queues, max_tasks=100, wait=WAIT_S, strict=True, **fields):
    """A Lease of (name, stage, max_tasks)."""
    listed = [broker_pb2.LeaseQueue(name=name, stage=stage, max_tasks=most)
              for name, stage, most in queues]
    order = "QUEUE_ORDER_STRICT" if strict else "QUEUE_ORDER_WEIGHTED"
    return broker_pb2.LeaseRequest(queues=listed, queue_order=order, max_tasks=max_tasks,
                                   wait=seconds(wait), **fields)


def lane_of(task):
    return task.task_id.split("-")[0]


class LeaseFill(SystemTest):
    def setUp(self):
        super().setUp()
        self.broker, self.client = self.start()

    def lease(self, *queues, **fields):
        return list(self.client.broker.Lease(request(*queues, **fields), timeout=DEADLINE_S).tasks)

    def fill_queues(self, count, tasks_each=1):
        names = [f"q{number}" for number in range(count)]
        for name in names:
            self.client.create_queue(name)
            self.client.enqueue_all(name, [self.client.new_task(name.encode())] * tasks_each)
        return [(name, "", 0) for name in names]

    def test_one_call_empties_64_queues(self):
        queues = self.fill_queues(64)
        tasks = self.lease(*queues)
        self.assertEqual(len(tasks), 64)
        self.assertEqual(len({task.queue for task in tasks}), 64)

    def test_one_call_empties_all_lanes(self):
        self.client.create_queue("wide", lane_count=8)
        self.client.enqueue_all("wide", [self.client.new_task(key=str(n)) for n in range(64)])
        self.assertEqual(len(self.lease(("wide", "", 0))), 64)

    def test_one_call_takes_of_all_stages_later_ones_first(self):
        self.client.create_queue("steps", stages=[queue_pb2.Stage(name=name) for name in "abc"])
        for stage in "abc":
            self.client.enqueue("steps", stage=stage)
        tasks = self.lease(("steps", "", 0), max_tasks=3)
        self.assertEqual([task.stage for task in tasks], ["c", "b", "a"])

    def test_a_queue_gives_no_more_than_its_limit(self):
        (a, b) = self.fill_queues(2, tasks_each=5)
        tasks = self.lease((a[0], "", 2), b, max_tasks=4)
        self.assertEqual([task.queue for task in tasks], [a[0], a[0], b[0], b[0]])

    def test_one_request_id_covers_all_parts(self):
        self.client.create_queue("steps", stages=[queue_pb2.Stage(name=name) for name in "ab"])
        for stage in "ab":
            self.client.enqueue("steps", stage=stage)
        self.client.create_queue("wide", lane_count=4)
        self.client.enqueue_all("wide", [self.client.new_task(key=str(n)) for n in range(64)])
        queues = [*self.fill_queues(3), ("steps", "", 0), ("wide", "", 0)]
        fields = {"worker_id": new_id(), "request_id": "1"}
        tasks = self.lease(*queues, **fields)
        self.assertEqual(len(tasks), 3 + 2 + 64)
        self.assertEqual(len({lane_of(task) for task in tasks if task.queue == "wide"}), 4)
        again = self.lease(*queues, **fields)
        self.assertEqual(attempts_of(again), attempts_of(tasks))
        other = self.client_of(self.start_broker())
        again = other.broker.Lease(request(*queues, **fields), timeout=DEADLINE_S).tasks
        self.assertEqual(attempts_of(again), attempts_of(tasks))

    def test_bytes_hold_for_all_parts_together(self):
        queues = self.fill_queues(3)
        for name, _, _ in queues:
            self.client.enqueue(name, b"x" * 1000)
        tasks = self.lease(*queues, max_bytes=2500)
        self.assertLessEqual(sum(len(task.payload) for task in tasks), 2500)
        self.assertGreater(len(tasks), 3)

    def test_a_paused_queue_takes_nothing_from_the_others(self):
        queues = self.fill_queues(3)
        self.client.pause(queues[1][0])
        tasks = self.lease(*queues)
        self.assertEqual({task.queue for task in tasks}, {queues[0][0], queues[2][0]})

    def test_it_never_waits_once_it_holds_a_task(self):
        (a, b) = self.fill_queues(2, tasks_each=2)
        self.client.create_queue("empty")
        # It has half the time: had the other one waited for a fifth task, this one would be over.
        parked = self.park(self.broker, self.client, "empty", wait=WAIT_S / 2)
        tasks = self.lease(a, ("empty", "", 0), b, max_tasks=5)
        self.assertFalse(parked.done())
        self.assertEqual(len(tasks), 4)
        parked.cancel()

    def break_leases(self, queue):
        lane = self.database.value("SELECT l.lane FROM skiplane.queue_lane l JOIN skiplane.queue q"
                                   f" ON q.id = l.queue_id WHERE q.name = '{queue}'")
        self.database.run("ALTER TABLE skiplane.task ADD CONSTRAINT broken"
                          f" CHECK (lane <> {lane} OR state = 1)")

    def test_a_lane_that_fails_takes_nothing_from_the_others(self):
        (a, b, c) = self.fill_queues(3)
        self.break_leases(b[0])
        tasks = self.lease(a, b, c, max_tasks=3)
        self.assertEqual([task.queue for task in tasks], [a[0], c[0]])

    def test_a_lane_that_fails_is_told_to_who_holds_nothing(self):
        (queue,) = self.fill_queues(1)
        self.break_leases(queue[0])
        self.assert_refused("INTERNAL", "INTERNAL_ERROR", self.lease, queue, wait=1)


class LeaseFillByHttp(ByHttp, LeaseFill):
    pass


if __name__ == "__main__":
    unittest.main()
