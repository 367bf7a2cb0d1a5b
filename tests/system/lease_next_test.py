"""An ack that asks for the next lease: one commit when something is ready, else the ack at once and
the lease as soon as there is something."""

import time

import grpc

from support.by_http import ByHttp
from support.case import SystemTest
from support.client import attempts_of, broker_pb2, fields_of, lease_request, new_id
from support.process import GENEROUS_S

QUEUE = "chain"


class LeaseNext(SystemTest):
    def setUp(self):
        super().setUp()
        self.broker, self.client = self.start()
        self.client.create_queue(QUEUE)

    def request(self, *tasks, items=None, **lease):
        items = items or [broker_pb2.AckItem(lease_token=task.lease_token) for task in tasks]
        return broker_pb2.AckRequest(items=items, lease_next=lease_request(QUEUE, **lease))

    def ack(self, *tasks, **fields):
        return self.client.broker.Ack(self.request(*tasks, **fields), timeout=90)

    def wait_for(self, holds):
        end = time.monotonic() + GENEROUS_S
        while not holds():
            self.assertLess(time.monotonic(), end)

    def outcomes(self, response):
        return [broker_pb2.SettleOutcome.Name(result.outcome) for result in response.results]

    def test_the_ack_and_the_next_lease_are_one_transaction(self):
        ids = [self.client.enqueue(QUEUE, b"%d" % i) for i in range(3)]
        [first] = self.client.lease(QUEUE, worker_id="w")
        response = self.ack(first, worker_id="w", max_tasks=2)
        self.assertEqual(self.outcomes(response), ["SETTLE_OUTCOME_SETTLED"])
        self.assertEqual([task.task_id for task in response.lease.tasks], ids[1:])
        self.assertGreater(response.lease.lease_remaining.ToTimedelta().total_seconds(), 0)
        self.assertEqual(self.database.number(
            "SELECT count(*) FROM skiplane.task t JOIN skiplane.history h ON h.xmin = t.xmin"
            " WHERE t.state = 2"), 2)
        self.assertEqual(self.client.ack(*response.lease.tasks), ["SETTLED", "SETTLED"])

    def test_follow_ups_belong_to_it_too(self):
        for _ in range(2):
            self.client.enqueue(QUEUE)
        self.client.create_queue("then")
        [first] = self.client.lease(QUEUE)
        follow_up = self.client.new_task(queue="then")
        item = broker_pb2.AckItem(lease_token=first.lease_token, follow_ups=[follow_up])
        response = self.ack(items=[item])
        self.assertEqual(len(response.lease.tasks), 1)
        self.assertEqual(self.database.number(
            "SELECT count(DISTINCT t.xmin::text) FROM skiplane.task t"), 1)

    def test_with_nothing_there_it_answers_empty(self):
        self.client.enqueue(QUEUE)
        response = self.ack(*self.client.lease(QUEUE))
        self.assertEqual(self.outcomes(response), ["SETTLE_OUTCOME_SETTLED"])
        self.assertTrue(response.HasField("lease"))
        self.assertEqual(list(response.lease.tasks), [])

    def test_it_waits_for_a_task_with_the_ack_already_committed(self):
        first = self.client.enqueue(QUEUE)
        call = self.client.broker.Ack.future(
            self.request(*self.client.lease(QUEUE), wait=60), timeout=90)
        self.wait_for(lambda: self.client.state(first) == "SUCCEEDED")
        self.assertFalse(call.done())
        second = self.client.enqueue(QUEUE)
        self.assertEqual([task.task_id for task in call.result().lease.tasks], [second])

    def test_a_lost_lease_does_not_stop_the_next_one(self):
        self.client.enqueue(QUEUE)
        second = self.client.enqueue(QUEUE)
        [lost] = self.client.lease(QUEUE)
        self.database.run("UPDATE skiplane.task SET lease_number = lease_number + 1"
                          " WHERE state = 2")
        response = self.ack(lost)
        self.assertEqual(self.outcomes(response), ["SETTLE_OUTCOME_LEASE_LOST"])
        self.assertEqual([task.task_id for task in response.lease.tasks], [second])

    def test_a_repeat_gets_the_same_leases(self):
        for _ in range(5):
            self.client.enqueue(QUEUE)
        [first] = self.client.lease(QUEUE, worker_id="w")
        fields = {"worker_id": "w", "max_tasks": 2, "request_id": new_id()}
        response, again = self.ack(first, **fields), self.ack(first, **fields)
        self.assertEqual(len(response.lease.tasks), 2)
        self.assertEqual(self.outcomes(again), ["SETTLE_OUTCOME_ALREADY_SETTLED"])
        self.assertEqual(attempts_of(again.lease.tasks), attempts_of(response.lease.tasks))

    def test_an_id_that_was_used_does_not_hold_the_ack_up(self):
        """The lease fails inside the transaction of the ack, which must not fail with it."""
        for _ in range(3):
            self.client.enqueue(QUEUE)
        [other] = self.client.lease(QUEUE, worker_id="w", request_id="twice")
        [first] = self.client.lease(QUEUE, worker_id="w")
        response = self.ack(first, worker_id="w", request_id="twice")
        self.assertEqual(self.outcomes(response), ["SETTLE_OUTCOME_SETTLED"])
        self.assertEqual([task.task_id for task in response.lease.tasks], [other.task_id])

    def test_a_refused_lease_refuses_the_ack(self):
        task_id = self.client.enqueue(QUEUE)
        [task] = self.client.lease(QUEUE)
        item = broker_pb2.AckItem(lease_token=task.lease_token)
        for wrong, field in [
                (lease_request(QUEUE, max_tasks=0), "lease_next.max_tasks"),
                (lease_request("", max_tasks=1), "lease_next.queues[0].name"),
                (lease_request(QUEUE, stage="nowhere"), "lease_next.queues[0].stage")]:
            with self.assertRaises(grpc.RpcError) as caught:
                self.client.broker.Ack(broker_pb2.AckRequest(items=[item], lease_next=wrong),
                                       timeout=90)
            error = caught.exception
            self.assertEqual((error.code(), fields_of(error)),
                             (grpc.StatusCode.INVALID_ARGUMENT, [field]))
        self.assertEqual(self.client.state(task_id), "LEASED")

    def test_refused_items_hold_no_lease_up(self):
        for _ in range(4):
            self.client.enqueue(QUEUE)
        first, second = self.client.lease(QUEUE, max_tasks=2)
        bad = broker_pb2.AckItem(lease_token=first.lease_token, next_stage="nowhere")
        good = broker_pb2.AckItem(lease_token=second.lease_token)
        alone, beside = self.ack(items=[bad]), self.ack(items=[bad, good])
        self.assertEqual(self.outcomes(alone) + self.outcomes(beside),
                         ["SETTLE_OUTCOME_REFUSED", "SETTLE_OUTCOME_REFUSED",
                          "SETTLE_OUTCOME_SETTLED"])
        self.assertEqual([len(response.lease.tasks) for response in (alone, beside)], [1, 1])
        self.assertEqual(self.client.ack(first), ["SETTLED"])

    def test_what_a_vanished_caller_got_goes_to_others(self):
        self.client.enqueue(QUEUE)
        call = self.client.broker.Ack.future(
            self.request(*self.client.lease(QUEUE), wait=60), timeout=90)
        self.wait_for(lambda: self.client.queue(QUEUE).counts.leased_count == 0)
        call.cancel()
        second = self.client.enqueue(QUEUE)
        [task] = self.client.lease(QUEUE)
        self.assertEqual(task.task_id, second)

    def test_a_paused_queue_acks_without_a_lease(self):
        self.client.enqueue(QUEUE)
        [task] = self.client.lease(QUEUE)
        self.client.enqueue(QUEUE)
        self.client.pause(QUEUE)
        response = self.ack(task)
        self.assertEqual(self.outcomes(response), ["SETTLE_OUTCOME_SETTLED"])
        self.assertEqual(list(response.lease.tasks), [])
        self.assertEqual(list(response.lease.paused_queues), [QUEUE])


class LeaseNextByHttp(ByHttp, LeaseNext):
    pass
