"""A worker that stopped waiting for its answer leaves nothing behind."""

import time
import unittest

import grpc

from support.case import SystemTest, slow
from support.client import broker_pb2, lease_request, new_id
from support.process import GENEROUS_S

QUEUE = "vanished"
LEASE = 'grpc_method="skiplane.v1.BrokerService/Lease"'
ENDED = "grpc_server_call_duration_seconds_count{"
ROUNDS = 150


@slow
class Vanished(SystemTest):
    def setUp(self):
        super().setUp()
        self.broker, self.client = self.start()
        self.client.create_queue(QUEUE)

    def assert_leased_uncharged(self, payload):
        """The next caller gets the task, as if it had never been leased."""
        [task] = self.client.lease(QUEUE)
        self.assertEqual((task.payload, task.attempt), (payload, 1))
        self.assertEqual(self.broker.metrics()["skiplane_orphan_leases_handed_back_total"], 1)

    def test_a_cancelled_lease_takes_no_task(self):
        parked = self.park(self.broker, self.client, QUEUE)
        parked.cancel()
        self.assertTrue(parked.cancelled())
        self.client.enqueue(QUEUE, b"a")
        [task] = self.client.lease(QUEUE)
        self.assertEqual(task.attempt, 1)

    def test_a_lease_whose_connection_broke_takes_no_task(self):
        gone = self.client_of(self.broker)
        self.park(self.broker, gone, QUEUE)
        gone.close()
        self.client.enqueue(QUEUE, b"a")
        [task] = self.client.lease(QUEUE)
        self.assertEqual(task.attempt, 1)

    def test_a_lease_answers_before_its_deadline(self):
        request = lease_request(QUEUE, wait=60)
        answer = self.client.broker.Lease(request, timeout=2)  # else: DEADLINE_EXCEEDED
        self.assertEqual(list(answer.tasks), [])
        self.client.enqueue(QUEUE, b"a")
        self.assert_nothing_leased()

    def answered_leases(self):
        """How many leases the broker could answer, once it is done with all of them."""
        end = time.monotonic() + GENEROUS_S
        while True:
            self.assertLess(time.monotonic(), end, "leases that never end")
            page = self.broker.metrics()
            ended = {name: count for name, count in page.items()
                     if name.startswith(ENDED) and LEASE in name}
            if sum(ended.values()) == page[f'grpc_server_call_started_total{{{LEASE}}}']:
                return sum(count for name, count in ended.items() if 'grpc_status="OK"' in name)

    def test_leases_that_are_cancelled_while_tasks_arrive_leave_none_behind(self):
        kept = []
        for number in range(ROUNDS):
            parked = self.client.lease_later(QUEUE)
            enqueue = self.client.broker.Enqueue.future(broker_pb2.EnqueueRequest(
                queue=QUEUE, tasks=[broker_pb2.NewTask(payload=b"%d" % number)]), timeout=90)
            if number % 3 == 0:
                enqueue.result()
            parked.cancel()
            enqueue.result()
            kept += [] if parked.cancelled() else parked.result().tasks
        if kept:
            self.assertEqual(set(self.client.ack(*kept)), {"SETTLED"})
        # An answer that had left the broker cannot be called back: nobody but its reader knows
        # whether it was read. All others are undone.
        answered = self.answered_leases() - len(kept)
        self.database.eventually("SELECT count(*) FROM skiplane.task WHERE state = 2",
                                 str(int(answered)))
        self.assertEqual(
            self.database.run("SELECT count(*), sum(attempt) FROM skiplane.task WHERE state = 1"),
            [(str(int(ROUNDS - len(kept) - answered)), "0")])

    def test_a_lease_whose_deadline_passes_in_mid_statement_is_handed_back(self):
        self.client.enqueue(QUEUE, b"a")
        lock = self.database.hold_writes()
        late = self.client.broker.Lease.future(lease_request(QUEUE, wait=60), timeout=5)
        self.database.wait_for_lock_wait()
        self.assertEqual(late.code(), grpc.StatusCode.DEADLINE_EXCEEDED)
        self.client.queue(QUEUE)  # behind the cancellation, on the same connection
        lock.release()
        self.assert_leased_uncharged(b"a")

    def test_leases_with_a_request_id_wait_for_their_repeat(self):
        self.client.enqueue(QUEUE, b"a")
        fields = {"worker_id": new_id(), "request_id": new_id()}
        lock = self.database.hold_writes()
        gone = self.client.lease_later(QUEUE, **fields)
        self.database.wait_for_lock_wait()
        gone.cancel()
        lock.release()
        [task] = self.client.lease(QUEUE, **fields)
        self.assertEqual((task.payload, task.attempt), (b"a", 1))

    def test_a_lease_without_a_request_id_is_handed_back_when_its_caller_vanished_meanwhile(self):
        self.client.enqueue(QUEUE, b"a")
        lock = self.database.hold_writes()
        gone = self.client.lease_later(QUEUE, worker_id=new_id())
        self.database.wait_for_lock_wait()
        gone.cancel()
        self.client.queue(QUEUE)  # behind the cancellation, on the same connection
        lock.release()
        self.assert_leased_uncharged(b"a")


if __name__ == "__main__":
    unittest.main()
