"""Acks that say more: results, and tasks that are made in the same transaction."""

import time
import unittest

from support.by_http import ByHttp
from support.case import SystemTest
from support.client import broker_pb2, queue_pb2, seconds
from support.process import GENEROUS_S

QUEUE = "work"
NEXT = "next"


def follow_up(payload=b"", queue=NEXT, **fields):
    return broker_pb2.NewTask(queue=queue, payload=payload, **fields)


class FollowUps(SystemTest):
    def setUp(self):
        super().setUp()
        self.broker, self.client = self.start()
        self.client.create_queue(QUEUE, keep_results=True)
        self.client.create_queue(NEXT)

    def take(self, queue=QUEUE, **fields):
        [task] = self.client.lease(queue, **fields)
        return task

    def assert_item_refused(self, reason, field, task, **fields):
        [result] = self.client.ack_results(task, **fields)
        self.assertEqual((result.outcome, result.refusal.reason, result.refusal.field),
                         (broker_pb2.SETTLE_OUTCOME_REFUSED, reason, field), result)

    def tasks(self):
        return self.database.number("SELECT count(*) FROM skiplane.task")

    def test_follow_ups_are_made_with_the_ack(self):
        self.client.enqueue(QUEUE)
        [result] = self.client.ack_results(self.take(), follow_ups=[
            follow_up(b"a", priority=3, headers={"h": "v"}), follow_up(b"b", key="k")])
        self.assertEqual(len(result.follow_ups), 2)
        second, first = self.take(NEXT), self.take(NEXT)
        self.assertEqual((first.payload, first.priority, dict(first.headers), first.task_id),
                         (b"a", 3, {"h": "v"}, result.follow_ups[0].task_id))
        self.assertEqual((second.key, second.task_id), ("k", result.follow_ups[1].task_id))

    def test_waiting_workers_are_woken_by_a_follow_up(self):
        parked = self.client.lease_later(NEXT)
        self.client.enqueue(QUEUE)
        self.client.ack_results(self.take(), follow_ups=[follow_up(b"now")])
        self.assertEqual(parked.result().tasks[0].payload, b"now")

    def test_a_known_key_makes_no_second_follow_up(self):
        first = self.client.enqueue(NEXT, key="k")
        self.client.enqueue(QUEUE)
        [result] = self.client.ack_results(self.take(), follow_ups=[follow_up(key="k")])
        self.assertEqual((result.follow_ups[0].task_id, result.follow_ups[0].outcome),
                         (first, broker_pb2.ENQUEUE_OUTCOME_EXISTING))
        self.assertEqual(self.tasks(), 1)

    def test_a_lost_lease_makes_none(self):
        self.client.enqueue(QUEUE)
        old = self.take()
        self.client.nack(old, "RELEASE")
        [result] = self.client.ack_results(old, follow_ups=[follow_up()])
        self.assertEqual(result.outcome, broker_pb2.SETTLE_OUTCOME_LEASE_LOST)
        self.assertEqual(self.tasks(), 1)

    def test_a_repeated_ack_makes_none_twice(self):
        self.client.enqueue(QUEUE)
        task = self.take()
        for outcome in (broker_pb2.SETTLE_OUTCOME_SETTLED,
                        broker_pb2.SETTLE_OUTCOME_ALREADY_SETTLED):
            [result] = self.client.ack_results(task, follow_ups=[follow_up()])
            self.assertEqual(result.outcome, outcome)
        self.assertEqual(self.tasks(), 1)

    def test_the_ack_fails_if_a_follow_up_cannot_be_made(self):
        self.client.enqueue(QUEUE)
        task = self.take()
        self.database.run("ALTER TABLE skiplane.task ADD CONSTRAINT no_ham CHECK"
                          " (payload <> 'ham'::bytea)")
        self.assert_refused("INTERNAL", "INTERNAL_ERROR", self.client.ack_results, task,
                            follow_ups=[follow_up(b"eggs"), follow_up(b"ham")])
        self.database.run("ALTER TABLE skiplane.task DROP CONSTRAINT no_ham")
        self.assertEqual(self.client.state(task.task_id), "LEASED")
        self.assertEqual(self.tasks(), 1)
        self.assertEqual(self.client.ack(task), ["SETTLED"])

    def test_a_dead_workers_task_is_found_after_a_failed_ack(self):
        self.client.enqueue(QUEUE)
        task = self.take(worker_id="dies", duration=1)
        self.database.run("ALTER TABLE skiplane.task ADD CONSTRAINT no_ham CHECK"
                          " (payload <> 'ham'::bytea)")
        self.assert_refused("INTERNAL", "INTERNAL_ERROR", self.client.ack_results, task,
                            follow_ups=[follow_up(b"ham")])
        self.assertEqual(self.take().task_id, task.task_id)

    def test_bad_follow_ups_name_the_field_and_settle_nothing(self):
        self.client.enqueue(QUEUE)
        task = self.take()
        self.client.create_queue("small", max_payload_bytes=1)
        for bad, field in ((follow_up(queue="no name!"), "queue"),
                           (follow_up(queue=""), "queue"),
                           (follow_up(max_attempts=0), "max_attempts"),
                           (follow_up(version=2), "version"),
                           (follow_up(key="k", key_policy="KEY_POLICY_REJECT"), "key_policy"),
                           (follow_up(cron="61 * * * *"), "cron"),
                           (follow_up(period=seconds(0)), "period"),
                           (follow_up(b"xx", queue="small"), "payload")):
            with self.subTest(field=field):
                self.assert_item_refused("INVALID_FIELD", f"follow_ups[1].{field}", task,
                                         follow_ups=[follow_up(), bad])
        self.assert_item_refused("QUEUE_NOT_FOUND", "follow_ups[0].queue", task,
                                 follow_ups=[follow_up(queue="missing")])
        self.client.pause(NEXT, "ENQUEUE")
        self.assert_item_refused("QUEUE_PAUSED", "follow_ups[0].queue", task,
                                 follow_ups=[follow_up()])
        self.assertEqual(self.client.state(task.task_id), "LEASED")
        self.assertEqual(self.tasks(), 1)

    def test_one_item_that_cannot_be_leaves_a_hundred_others_settled(self):
        self.client.enqueue_all(QUEUE, [self.client.new_task() for _ in range(101)])
        tasks = self.client.lease(QUEUE, max_tasks=101)
        items = [broker_pb2.AckItem(lease_token=task.lease_token) for task in tasks]
        items[50].follow_ups.append(follow_up(queue="missing"))
        items[51].result = bytes((1 << 20) + 1)
        results = self.client.broker.Ack(broker_pb2.AckRequest(items=items), timeout=60).results
        self.assertEqual([place for place, result in enumerate(results)
                          if result.outcome != broker_pb2.SETTLE_OUTCOME_SETTLED], [50, 51])
        self.assertEqual([results[place].refusal.reason for place in (50, 51)],
                         ["QUEUE_NOT_FOUND", "INVALID_FIELD"])
        self.assertEqual(self.tasks(), 2)
        self.assertEqual(self.client.ack(tasks[50], tasks[51]), ["SETTLED", "SETTLED"])

    def test_results_are_kept_if_the_queue_says_so(self):
        for queue in (QUEUE, NEXT):
            self.client.enqueue(queue)
            self.client.ack_results(self.take(queue), result=b"\x00done")
        self.assertEqual(self.database.run("SELECT encode(result, 'hex') FROM skiplane.history"
                                           " ORDER BY lane"), [("00646f6e65",), ("",)])

    def test_payloads_are_kept_if_the_queue_says_so(self):
        self.client.update_queue(QUEUE, "keep_payloads", keep_payloads=True)
        for queue in (QUEUE, NEXT):
            self.client.enqueue(queue, b"paid")
            self.client.ack(self.take(queue))
        self.assertEqual(self.database.run("SELECT convert_from(payload, 'UTF8')"
                                           " FROM skiplane.history ORDER BY lane"),
                         [("paid",), ("",)])

    def test_many_acks_with_follow_ups_at_once(self):
        for _ in range(200):
            self.client.enqueue(QUEUE)
        calls = []
        for task in self.client.lease(QUEUE, max_tasks=200):
            item = broker_pb2.AckItem(lease_token=task.lease_token, follow_ups=[
                follow_up(task.task_id.encode()), follow_up(key=f"k{len(calls) % 10}")])
            calls.append(self.client.broker.Ack.future(broker_pb2.AckRequest(items=[item]),
                                                       timeout=60))
        for call in calls:
            self.assertEqual(call.result().results[0].outcome, broker_pb2.SETTLE_OUTCOME_SETTLED)
        self.assertEqual(self.tasks(), 210)


class Hanged(SystemTest):
    def test_a_beating_worker_that_never_ends_loses_its_task(self):
        broker, client = self.start()
        client.create_queue(QUEUE, max_run_duration=seconds(1),
                            retry=queue_pb2.RetryPolicy(max_attempts=2))
        task_id = client.enqueue(QUEUE, b"endless")
        [first] = client.lease(QUEUE, worker_id="heartbeats", duration=600)
        [second] = client.lease(QUEUE, worker_id="heartbeats", duration=600)
        self.assertEqual((second.task_id, second.attempt), (task_id, 2))
        self.assertEqual(client.ack(first), ["LEASE_LOST"])
        self.database.eventually("SELECT count(*) = 1 FROM skiplane.task_failed"
                                 " WHERE error_type = 'HANGED'")
        self.assertEqual(client.state(task_id), "FAILED")
        self.assertEqual(client.task(task_id).last_error.type, "HANGED")
        name = f'skiplane_task_attempts_total{{outcome="hanged",queue="{QUEUE}"}}'
        end = time.monotonic() + GENEROUS_S
        while (hanged := broker.metrics().get(name, 0)) < 2:
            self.assertLess(time.monotonic(), end, "not all of them are counted")
        self.assertEqual(hanged, 2)

    def test_others_of_the_same_worker_are_left_alone(self):
        _, client = self.start()
        client.create_queue(QUEUE, stages=[
            queue_pb2.Stage(name="short", max_run_duration=seconds(1)),
            queue_pb2.Stage(name="long")])
        client.enqueue(QUEUE, stage="short")
        client.enqueue(QUEUE, stage="long")
        tasks = [client.lease(QUEUE, stage=stage, worker_id="w", duration=600)[0]
                 for stage in ("short", "long")]
        [again] = client.lease(QUEUE, stage="short")
        self.assertEqual(again.task_id, tasks[0].task_id)
        self.assertEqual(client.ack(tasks[1]), ["SETTLED"])


class FollowUpsByHttp(ByHttp, FollowUps):
    pass


if __name__ == "__main__":
    unittest.main()
