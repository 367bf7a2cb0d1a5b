"""What heartbeats say of leases that were taken from a worker that lives."""

import unittest

from support.case import SystemTest
from support.client import admin_pb2, broker_pb2, bulk_pb2, seconds

QUEUE = "heartbeats"
WORKER = "worker"


class Heartbeats(SystemTest):
    def setUp(self):
        super().setUp()
        self.broker, self.client = self.start()
        self.client.create_queue(QUEUE)

    def lease_new(self, count, queue=QUEUE, **fields):
        """That many new tasks in the worker's hands."""
        self.client.enqueue_all(queue, [self.client.new_task(**fields) for _ in range(count)])
        return self.client.lease(queue, worker_id=WORKER, max_tasks=count, duration=600)

    def states(self, *tasks):
        heartbeat = self.client.heartbeat(WORKER, 600, *tasks)
        self.assertTrue(heartbeat.session_alive)
        return [broker_pb2.LeaseState.Name(result.state).removeprefix("LEASE_STATE_")
                for result in heartbeat.results]

    def test_an_attempt_that_ran_too_long_is_lost_although_its_worker_beats(self):
        self.client.create_queue("patient")
        [kept] = self.lease_new(1, "patient")
        [hanged] = self.lease_new(1)
        self.assertEqual(self.states(hanged, kept), ["HELD", "HELD"])
        self.client.update_queue(QUEUE, "max_run_duration", max_run_duration=seconds(1))
        self.database.eventually("SELECT state = 1 AND error_type = 'HANGED' FROM skiplane.task "
                                 "WHERE id = " + hanged.task_id.split("-")[1])
        for _ in range(3):  # the answer of a heartbeat may get lost
            self.assertEqual(self.states(hanged, kept), ["LOST", "HELD"])
        self.assertEqual(self.states(kept), ["HELD"])
        other = self.client_of(self.start_broker())
        self.assertEqual(other.heartbeat(WORKER, 600, hanged).results[0].state,
                         broker_pb2.LEASE_STATE_LOST)
        self.assertEqual(self.client.ack(hanged, kept), ["LEASE_LOST", "SETTLED"])

    def test_an_empty_lease_says_nothing_of_the_time_that_is_left(self):
        [task] = self.lease_new(1)
        answer = self.client.broker.Lease(broker_pb2.LeaseRequest(
            queues=[broker_pb2.LeaseQueue(name=QUEUE)], worker_id=WORKER, max_tasks=1), timeout=60)
        self.assertEqual((len(answer.tasks), answer.HasField("lease_remaining")), (0, False))
        self.assertEqual(self.states(task), ["HELD"])

    def test_all_of_thousands_of_cancelled_ones_are_to_stop_and_no_other(self):
        self.client.create_queue("many")
        cancelled = [task for _ in range(3) for task in self.lease_new(1000, "many", priority=5)]
        kept = self.lease_new(1000, "many", priority=1)
        operation = self.client.admin.StartBulkOperation(admin_pb2.StartBulkOperationRequest(
            filter=bulk_pb2.TaskFilter(queue="many", priority=5),
            action=bulk_pb2.BulkAction(cancel={}), wait=seconds(60)), timeout=90).operation
        self.assertEqual(operation.changed_count, 3000)
        for _ in range(2):
            for first in range(0, 3000, 1000):
                self.assertEqual(set(self.states(*cancelled[first:first + 1000])),
                                 {"CANCEL_REQUESTED"})
            self.assertEqual(set(self.states(*kept)), {"HELD"})

    def test_what_the_worker_settled_itself_is_not_asked_for(self):
        self.client.create_queue("plain")
        done, kept = self.lease_new(2, "plain")
        self.assertEqual(self.client.ack(done), ["SETTLED"])
        self.assertEqual(self.states(done, kept), ["HELD", "HELD"])


if __name__ == "__main__":
    unittest.main()
