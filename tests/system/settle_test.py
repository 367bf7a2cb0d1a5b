"""One call that ends attempts, each in its own way, and may lease the next tasks."""

import time
import unittest

import grpc

from support.by_http import ByHttp
from support.case import SystemTest
from support.client import (DEADLINE_S, attempts_of, broker_pb2, fields_of, lease_request, new_id,
                            queue_pb2, reason_of, seconds, state_name, task_pb2)
from support.process import GENEROUS_S

QUEUE = "mixed"


def ack_of(task, **fields):
    return broker_pb2.SettleItem(ack=broker_pb2.AckItem(lease_token=task.lease_token, **fields))


def nack_of(task, disposition="RETRY", **fields):
    return broker_pb2.SettleItem(nack=broker_pb2.NackItem(
        lease_token=task.lease_token, disposition=f"NACK_DISPOSITION_{disposition}", **fields))


def release_of(task):
    return broker_pb2.SettleItem(release=broker_pb2.ReleaseItem(lease_token=task.lease_token))


def outcomes(response):
    return [broker_pb2.SettleOutcome.Name(result.outcome).removeprefix("SETTLE_OUTCOME_")
            for result in response.results]


class SettleTest(SystemTest):
    def setUp(self):
        super().setUp()
        self.broker, self.client = self.start()
        self.client.create_queue(QUEUE)

    def settle(self, *items, lease_next=None):
        request = broker_pb2.SettleRequest(items=items, lease_next=lease_next)
        return self.client.broker.Settle(request, timeout=DEADLINE_S)

    def refusal_of(self, *items, **fields):
        with self.assertRaises(grpc.RpcError) as caught:
            self.settle(*items, **fields)
        return caught.exception

    def leased(self, count, **fields):
        """So many tasks in the hands of a worker, in the order of their making."""
        self.client.enqueue_all(QUEUE, [self.client.new_task(b"%d" % number, **fields)
                                        for number in range(count)])
        tasks = self.client.lease(QUEUE, max_tasks=count, worker_id="w")
        self.assertEqual(len(tasks), count)
        return tasks


class EachInItsOwnWay(SettleTest):
    def test_results_come_in_order_whatever_the_items_are(self):
        done, later, failed, back = self.leased(4)
        response = self.settle(
            nack_of(failed, "FAIL", error=task_pb2.TaskError(type="Broken")),
            ack_of(done), release_of(back), nack_of(later, retry_delay=seconds(600)))
        self.assertEqual(outcomes(response), ["SETTLED"] * 4)
        self.assertEqual([state_name(result.state) for result in response.results],
                         ["FAILED", "SUCCEEDED", "READY", "SCHEDULED"])
        self.assertEqual([self.client.state(task.task_id) for task in (failed, done, back, later)],
                         ["FAILED", "SUCCEEDED", "READY", "SCHEDULED"])
        self.assertEqual([result.HasField("schedule_time") for result in response.results],
                         [False, False, True, True])
        self.assertFalse(response.HasField("lease"))
        self.assertFalse(response.HasField("lease_refusal"))
        error = self.client.task(failed.task_id).last_error
        self.assertEqual(error.type, "Broken")

    def test_of_items_of_one_lease_the_first_counts_that_is_not_refused(self):
        acked, nacked = self.leased(2)
        response = self.settle(
            ack_of(acked, next_stage="none"), ack_of(acked), ack_of(acked), nack_of(acked),
            nack_of(nacked, "FAIL"), ack_of(nacked))
        self.assertEqual(outcomes(response), ["REFUSED", "SETTLED", "ALREADY_SETTLED",
                                              "LEASE_LOST", "SETTLED", "LEASE_LOST"])
        self.assertEqual([self.client.state(task.task_id) for task in (acked, nacked)],
                         ["SUCCEEDED", "FAILED"])

    def test_what_is_given_back_is_not_charged_and_keeps_its_place(self):
        first, second = self.leased(2)
        self.settle(release_of(second))
        self.settle(release_of(first))
        again = self.client.lease(QUEUE, max_tasks=2)
        self.assertEqual([task.task_id for task in again], [first.task_id, second.task_id])
        self.assertEqual([self.client.task(task.task_id).attempt_count for task in again], [1, 1])

    def test_an_item_that_is_not_settled_leaves_the_others_alone(self):
        lost, old, wrong, bad, good = self.leased(5)
        self.database.run("UPDATE skiplane.task SET lease_number = lease_number + 1"
                          f" WHERE id = {self.number_of(lost)}")
        self.client.ack(old)
        response = self.settle(
            release_of(lost), ack_of(old), ack_of(wrong, next_stage="nowhere"),
            nack_of(bad, retry_delay=seconds(-1)), nack_of(good))
        self.assertEqual(outcomes(response), ["LEASE_LOST", "ALREADY_SETTLED", "REFUSED",
                                              "REFUSED", "SETTLED"])
        self.assertEqual([(result.refusal.reason, result.refusal.field)
                          for result in response.results[2:4]],
                         [("INVALID_FIELD", "ack.next_stage"),
                          ("INVALID_FIELD", "nack.retry_delay")])
        self.assertTrue(response.results[2].refusal.message.startswith("ack.next_stage"))
        corrected = self.settle(ack_of(wrong), nack_of(bad))
        self.assertEqual(outcomes(corrected), ["SETTLED", "SETTLED"])

    def number_of(self, task):
        """Of its row."""
        return self.database.number("SELECT id FROM skiplane.task WHERE state = 2 AND"
                                    f" payload = '{task.payload.decode()}'")

    def test_a_repeat_finds_all_of_it_settled(self):
        done, back, failed = self.leased(3)
        items = [ack_of(done), release_of(back), nack_of(failed, "FAIL")]
        self.assertEqual(outcomes(self.settle(*items)), ["SETTLED"] * 3)
        self.assertEqual(outcomes(self.settle(*items)), ["ALREADY_SETTLED"] * 3)

    def test_of_several_items_for_one_lease_the_first_counts(self):
        one, two, three = self.leased(3)
        response = self.settle(ack_of(one), ack_of(one), nack_of(two, "FAIL"), ack_of(two),
                               ack_of(three), release_of(three))
        self.assertEqual(outcomes(response), ["SETTLED", "ALREADY_SETTLED", "SETTLED",
                                              "LEASE_LOST", "SETTLED", "LEASE_LOST"])
        self.assertEqual([self.client.state(task.task_id) for task in (one, two, three)],
                         ["SUCCEEDED", "FAILED", "SUCCEEDED"])

    def test_items_of_many_lanes_and_queues_are_settled_by_one_call(self):
        self.client.create_queue("wide", lane_count=8)
        self.client.enqueue_all("wide", [self.client.new_task(key=f"k{n}") for n in range(40)])
        tasks = self.leased(10)
        while len(tasks) < 50:
            tasks += self.client.lease("wide", max_tasks=40)
        kinds = [ack_of, nack_of, release_of]
        response = self.settle(*[kinds[n % 3](task) for n, task in enumerate(tasks)])
        self.assertEqual(outcomes(response), ["SETTLED"] * 50)
        self.assertEqual({state_name(result.state) for result in response.results[::3]},
                         {"SUCCEEDED"})
        self.assertEqual({state_name(result.state) for result in response.results[2::3]},
                         {"READY"})

    def test_acks_bring_follow_ups_and_move_on_as_by_ack(self):
        self.client.create_queue("line", stages=[queue_pb2.Stage(name="one"),
                                                 queue_pb2.Stage(name="two")])
        self.client.create_queue("then")
        self.client.enqueue_all("line", [self.client.new_task()] * 2)
        moved, back = self.client.lease("line", max_tasks=2)
        follow_up = self.client.new_task(b"next", queue="then")
        items = [release_of(back), ack_of(moved, follow_ups=[follow_up])]
        released, acked = self.settle(*items).results
        self.assertEqual((acked.stage, state_name(acked.state)), ("two", "READY"))
        [then] = self.client.lease("then")
        self.assertEqual(then.task_id, acked.follow_ups[0].task_id)
        self.assertEqual(list(released.follow_ups), [])
        self.assertEqual(outcomes(self.settle(*items)), ["ALREADY_SETTLED"] * 2)
        self.assertEqual(self.client.lease("then", wait=0), [])


class Refused(SettleTest):
    def assert_refused(self, error, field, reason="INVALID_FIELD"):
        self.assertEqual((error.code(), reason_of(error), fields_of(error)),
                         (grpc.StatusCode.INVALID_ARGUMENT, reason, [field]))

    def test_a_fault_of_the_call_settles_nothing(self):
        [task] = self.leased(1)
        good = ack_of(task)
        self.assert_refused(self.refusal_of(), "items")
        self.assert_refused(self.refusal_of(*[good] * 1001), "items")
        self.assert_refused(self.refusal_of(good, broker_pb2.SettleItem()),
                            "items[1].settlement")
        for kind in ("ack", "nack", "release"):
            for token in (b"nonsense", b""):
                with self.subTest(kind=kind, token=token):
                    item = broker_pb2.SettleItem()
                    getattr(item, kind).lease_token = token
                    self.assert_refused(self.refusal_of(good, item),
                                        f"items[1].{kind}.lease_token", "INVALID_LEASE_TOKEN")
        self.assertEqual(self.client.state(task.task_id), "LEASED")
        self.assertEqual(outcomes(self.settle(*[good] * 1000)),
                         ["SETTLED"] + ["ALREADY_SETTLED"] * 999)

    def test_a_lease_that_is_refused_settles_nothing(self):
        done, back = self.leased(2)
        for wrong, field in [(lease_request(QUEUE, max_tasks=0), "lease_next.max_tasks"),
                             (lease_request(QUEUE, stage="no"), "lease_next.queues[0].stage")]:
            error = self.refusal_of(ack_of(done), release_of(back), lease_next=wrong)
            self.assert_refused(error, field)
        error = self.refusal_of(ack_of(done), lease_next=lease_request("missing"))
        self.assertEqual((error.code(), reason_of(error), fields_of(error)),
                         (grpc.StatusCode.NOT_FOUND, "QUEUE_NOT_FOUND",
                          ["lease_next.queues[0].name"]))
        self.assertEqual([self.client.state(task.task_id) for task in (done, back)],
                         ["LEASED", "LEASED"])


class NextLease(SettleTest):
    def wait_for(self, holds):
        end = time.monotonic() + GENEROUS_S
        while not holds():
            self.assertLess(time.monotonic(), end)

    def test_acks_and_the_next_lease_are_one_transaction(self):
        """Unless the broker just looks how many tasks are there."""
        self.wait_for(self.are_one_transaction)

    def are_one_transaction(self):
        self.client.enqueue_all(QUEUE, [self.client.new_task()] * 3)
        [first] = self.client.lease(QUEUE, worker_id="w")
        response = self.settle(ack_of(first), lease_next=lease_request(
            QUEUE, max_tasks=2, worker_id="w"))
        self.assertEqual(outcomes(response), ["SETTLED"])
        self.assertEqual(len(response.lease.tasks), 2)
        return self.database.number(
            "SELECT count(*) FROM skiplane.task t JOIN skiplane.history h ON h.xmin = t.xmin"
            " WHERE t.state = 2") == 2

    def test_items_of_any_kind_come_before_the_next_lease(self):
        done, failed, back = self.leased(3)
        rest = self.client.enqueue(QUEUE)
        response = self.settle(ack_of(done), nack_of(failed, "FAIL"), release_of(back),
                               lease_next=lease_request(QUEUE, max_tasks=9, worker_id="w"))
        self.assertEqual(outcomes(response), ["SETTLED"] * 3)
        self.assertLessEqual({task.task_id for task in response.lease.tasks},
                             {back.task_id, rest})
        self.assertGreater(len(response.lease.tasks), 0)

    def test_it_waits_for_a_task_with_the_items_already_settled(self):
        done, failed = self.leased(2)
        call = self.client.broker.Settle.future(broker_pb2.SettleRequest(
            items=[ack_of(done), nack_of(failed, "FAIL")],
            lease_next=lease_request(QUEUE, wait=60)), timeout=DEADLINE_S)
        self.wait_for(lambda: self.client.state(failed.task_id) == "FAILED")
        self.assertFalse(call.done())
        late = self.client.enqueue(QUEUE)
        self.assertEqual([task.task_id for task in call.result().lease.tasks], [late])

    def test_a_repeat_gets_the_same_leases(self):
        done, failed = self.leased(2)
        self.client.enqueue_all(QUEUE, [self.client.new_task()] * 4)
        fields = {"lease_next": lease_request(QUEUE, max_tasks=2, worker_id="w",
                                              request_id=new_id())}
        items = [ack_of(done), nack_of(failed, "FAIL")]
        first, again = self.settle(*items, **fields), self.settle(*items, **fields)
        self.assertEqual(outcomes(again), ["ALREADY_SETTLED"] * 2)
        self.assertEqual(len(first.lease.tasks), 2)
        self.assertEqual(attempts_of(again.lease.tasks), attempts_of(first.lease.tasks))

    def test_what_a_vanished_caller_got_goes_to_others(self):
        [failed] = self.leased(1)
        call = self.client.broker.Settle.future(broker_pb2.SettleRequest(
            items=[nack_of(failed, "FAIL")], lease_next=lease_request(QUEUE, wait=60)),
            timeout=DEADLINE_S)
        self.wait_for(lambda: self.client.state(failed.task_id) == "FAILED")
        call.cancel()
        late = self.client.enqueue(QUEUE)
        [task] = self.client.lease(QUEUE)
        self.assertEqual(task.task_id, late)

    def assert_told_why_nothing_was_leased(self, settle):
        """The broker begins to drain while the items of the call are on their way."""
        self.client.create_queue("idle")
        parked = self.park(self.broker, self.client, "idle")
        lock = self.database.hold_writes()
        call = settle()
        self.database.wait_for_lock_wait()
        self.broker.signal(15)
        self.assertEqual(list(parked.result().tasks), [])  # from now on leases are refused
        lock.release()
        response = call.result()
        self.assertEqual(outcomes(response), ["SETTLED"] * len(response.results))
        self.assertFalse(response.HasField("lease"))
        self.assertEqual((response.lease_refusal.reason, response.lease_refusal.field),
                         ("BROKER_DRAINING", ""))
        self.assertIn("shutting down", response.lease_refusal.message)
        self.assertEqual(self.broker.wait(), 0)

    def test_of_a_settle_whose_lease_failed_after_the_items_it_tells_why(self):
        done, failed = self.leased(2)
        self.assert_told_why_nothing_was_leased(lambda: self.client.broker.Settle.future(
            broker_pb2.SettleRequest(items=[ack_of(done), nack_of(failed, "FAIL")],
                                     lease_next=lease_request(QUEUE, wait=60)),
            timeout=DEADLINE_S))

    def test_of_an_ack_whose_lease_failed_after_the_items_it_tells_why(self):
        [done] = self.leased(1)
        self.assert_told_why_nothing_was_leased(lambda: self.client.broker.Ack.future(
            broker_pb2.AckRequest(items=[broker_pb2.AckItem(lease_token=done.lease_token)],
                                  lease_next=lease_request(QUEUE)), timeout=DEADLINE_S))


class EachInItsOwnWayByHttp(ByHttp, EachInItsOwnWay):
    pass


class RefusedByHttp(ByHttp, Refused):
    pass


class NextLeaseByHttp(ByHttp, NextLease):
    pass


if __name__ == "__main__":
    unittest.main()
