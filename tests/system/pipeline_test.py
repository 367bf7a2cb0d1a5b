"""Tasks that pass through the stages of their queue's pipeline."""

import unittest

from support.case import SystemTest
from support.client import broker_pb2, queue_pb2, seconds, state_name

QUEUE = "pipeline"


class Pipeline(SystemTest):
    def setUp(self):
        super().setUp()
        self.broker, self.client = self.start()

    def create(self, *names, **first):
        stages = [queue_pb2.Stage(name=name) for name in names]
        for field, value in first.items():
            if hasattr(value, "DESCRIPTOR"):
                getattr(stages[0], field).CopyFrom(value)
        self.client.create_queue(QUEUE, stages=stages)

    def take(self, stage="", **fields):
        [task] = self.client.lease(QUEUE, stage=stage, **fields)
        return task

    def assert_idle(self, stage=""):
        self.assertEqual(self.client.lease(QUEUE, stage=stage, wait=0), [])

    def test_each_ack_moves_the_same_task_to_its_next_stage(self):
        self.create("fetch", "parse", "store")
        task_id = self.client.enqueue(QUEUE, b"x", key="k")
        for stage, state, after in (("fetch", "READY", "parse"), ("parse", "READY", "store"),
                                    ("store", "SUCCEEDED", "")):
            task = self.take(stage)
            self.assertEqual((task.stage, task.task_id, task.payload, task.attempt),
                             (stage, task_id, b"x", 1))
            [result] = self.client.ack_results(task)
            self.assertEqual((state_name(result.state), result.stage), (state, after))
        self.assert_idle()
        self.assertEqual(self.client.state(task_id), "SUCCEEDED")

    def test_a_worker_of_one_stage_sees_no_other(self):
        self.create("first", "second")
        self.client.enqueue(QUEUE)
        self.assert_idle("second")
        parked = self.client.lease_later(QUEUE, stage="second")
        self.client.ack(self.take("first"))
        self.assertEqual(parked.result().tasks[0].stage, "second")

    def test_a_worker_of_any_stage_finishes_what_was_begun_first(self):
        self.create("first", "second")
        begun = self.client.enqueue(QUEUE, priority=9)
        self.client.ack(self.take("first"))
        self.client.enqueue(QUEUE, priority=-9)
        self.assertEqual(self.take().task_id, begun)

    def test_an_ack_may_name_the_stage_or_finish(self):
        self.create("a", "b", "c")
        task_id = self.client.enqueue(QUEUE)
        self.client.ack_results(self.take("a"), next_stage="c")
        self.client.ack_results(self.take("c"), next_stage="a")
        [result] = self.client.ack_results(self.take("a"), finish={})
        self.assertEqual(state_name(result.state), "SUCCEEDED")
        self.assertEqual(self.client.state(task_id), "SUCCEEDED")

    def test_an_ack_may_replace_the_content_for_the_next_stage(self):
        self.create("a", "b")
        self.client.enqueue(QUEUE, b"raw", content_type="text/plain", headers={"h": "1"})
        self.client.ack_results(self.take("a"), next_payload=broker_pb2.NextPayload(
            payload=b"cooked", content_type="application/json", headers={"h": "2"}))
        task = self.take("b")
        self.assertEqual((task.payload, task.content_type, dict(task.headers)),
                         (b"cooked", "application/json", {"h": "2"}))

    def test_a_task_may_begin_at_any_stage(self):
        self.create("a", "b")
        self.client.enqueue(QUEUE, b"late", stage="b")
        self.assert_idle("a")
        self.assertEqual(self.take("b").payload, b"late")

    def test_attempts_and_retries_are_the_stages_own(self):
        retry = queue_pb2.RetryPolicy(base_delay=seconds(0), max_attempts=2)
        self.client.create_queue(QUEUE, stages=[
            queue_pb2.Stage(name="a", retry=retry), queue_pb2.Stage(name="b")])
        task_id = self.client.enqueue(QUEUE)
        self.assertEqual(state_name(self.client.nack(self.take("a")).state), "READY")
        task = self.take("a")
        self.assertEqual((task.attempt, task.max_attempts), (2, 2))
        self.client.ack(task)
        task = self.take("b")
        self.assertEqual((task.attempt, task.max_attempts), (1, 10))
        self.assertEqual(state_name(self.client.nack(task).state), "SCHEDULED")
        self.assertEqual(self.client.state(task_id), "SCHEDULED")

    def test_the_lease_duration_is_the_stages_own(self):
        self.client.create_queue(QUEUE, stages=[
            queue_pb2.Stage(name="a", lease_duration=seconds(900)), queue_pb2.Stage(name="b")])
        self.client.enqueue(QUEUE)
        remaining = self.client.lease_call(QUEUE, stage="a", wait=60).lease_remaining
        self.assertGreater(remaining.seconds, 800)

    def test_counts_are_kept_per_stage(self):
        self.create("a", "b")
        for _ in range(3):
            self.client.enqueue(QUEUE)
        self.client.ack(self.take("a"))
        self.client.nack(self.take("a"), "FAIL")
        self.take("b")
        first, second = self.client.queue(QUEUE).counts.stages
        self.assertEqual((first.stage, first.ready_count, first.succeeded_count,
                          first.failed_count), ("a", 1, 1, 1))
        self.assertEqual((second.stage, second.ready_count, second.leased_count), ("b", 0, 1))
        counts = self.client.queue(QUEUE).counts
        self.assertEqual((counts.ready_count, counts.leased_count, counts.succeeded_count),
                         (1, 1, 0))

    def test_a_dead_workers_task_waits_again_at_its_stage(self):
        self.create("a", "b")
        self.client.enqueue(QUEUE)
        self.client.ack(self.take("a"))
        self.take("b", worker_id="dies", duration=1)
        task = self.take("b")
        self.assertEqual((task.stage, task.attempt), ("b", 2))

    def test_newer_content_starts_at_the_first_stage(self):
        self.create("a", "b")
        put = {"key": "k", "key_policy": "KEY_POLICY_RERUN_IF_NEWER"}
        self.client.enqueue(QUEUE, b"1", version=1, **put)
        self.client.ack(self.take("a"))
        running = self.take("b")
        self.client.enqueue(QUEUE, b"2", version=2, **put)
        self.client.ack(running)
        self.assertEqual(self.take("a").payload, b"2")

    def test_what_names_an_unknown_stage_is_refused_and_changes_nothing(self):
        self.create("a", "b")
        refused = ("INVALID_ARGUMENT", "INVALID_FIELD")
        error = self.assert_refused(*refused, self.client.enqueue, QUEUE, stage="c")
        self.assertIn("tasks[0].stage", error.details())
        error = self.assert_refused(*refused, self.client.lease, QUEUE, stage="c")
        self.assertIn("queues[0].stage", error.details())
        self.client.enqueue(QUEUE)
        task = self.take("a")
        [result] = self.client.ack_results(task, next_stage="c")
        self.assertEqual((result.outcome, result.refusal.reason, result.refusal.field),
                         (broker_pb2.SETTLE_OUTCOME_REFUSED, "INVALID_FIELD", "next_stage"))
        self.assertEqual(self.client.ack(task), ["SETTLED"])
        self.assertEqual(self.take("b").task_id, task.task_id)

    def test_stages_are_added_at_the_end_and_never_removed(self):
        self.create("a")
        self.client.enqueue(QUEUE)
        task = self.take("a")
        self.client.update_queue(QUEUE, "stages", stages=[queue_pb2.Stage(name="a"),
                                                          queue_pb2.Stage(name="z")])
        self.client.ack(task)
        self.assertEqual(self.take("z").task_id, task.task_id)
        error = self.assert_refused("INVALID_ARGUMENT", "INVALID_FIELD", self.client.update_queue,
                                    QUEUE, "stages", stages=[])
        self.assertIn("settings.stages", error.details())

    def test_stages_keep_their_places(self):
        self.create("a", "b")
        for names, field in (("ba", "settings.stages[0].name"), ("cab", "settings.stages[1].name"),
                             ("cdb", "settings.stages[2].name")):
            error = self.assert_refused("INVALID_ARGUMENT", "INVALID_FIELD",
                                        self.client.update_queue, QUEUE, "stages",
                                        stages=[queue_pb2.Stage(name=name) for name in names])
            self.assertIn(f"{field}: is the name of stage ", error.details())
        self.client.update_queue(QUEUE, "stages",
                                 stages=[queue_pb2.Stage(name=name) for name in "cb"])


if __name__ == "__main__":
    unittest.main()
