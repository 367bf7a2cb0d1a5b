"""Periodic tasks of a pipeline: what a stage hands on ends with the run."""

import unittest

from support.by_http import ByHttp
from support.case import SystemTest
from support.client import DEADLINE_S, admin_pb2, broker_pb2, queue_pb2, seconds, task_pb2

QUEUE = "nightly"
OWN = {"content_type": "text/plain", "headers": {"day": "every"}}
HANDED_ON = broker_pb2.NextPayload(payload=b"pages", content_type="application/json",
                                   headers={"page": "1"})


class PeriodicStage(SystemTest):
    def setUp(self):
        super().setUp()
        self.broker, self.client = self.start()
        self.client.create_queue(QUEUE, stages=[queue_pb2.Stage(name=name)
                                                for name in ("fetch", "parse", "store")])

    def put(self, payload=b"site", **fields):
        return self.client.enqueue(QUEUE, payload, key="k", period=seconds(3600), **OWN, **fields)

    def take(self, stage):
        [task] = self.client.lease(QUEUE, stage=stage)
        return task

    def hand_on(self):
        self.client.ack_results(self.take("fetch"), next_payload=HANDED_ON)

    def assert_content(self, task, payload):
        self.assertEqual((task.payload, task.content_type, dict(task.headers)),
                         (payload, OWN["content_type"], OWN["headers"]))

    def assert_next_run(self, payload=b"site"):
        self.database.make_due()
        self.assert_content(self.take("fetch"), payload)

    def test_the_next_run_begins_with_the_content_that_the_task_was_made_with(self):
        task_id = self.put()
        for _ in range(2):
            self.hand_on()
            self.client.ack_results(self.take("parse"), next_payload=broker_pb2.NextPayload(
                payload=b"rows"))
            stored = self.take("store")
            self.assertEqual((stored.payload, stored.content_type, dict(stored.headers)),
                             (b"rows", "", {}))
            self.client.ack(stored)
            self.assert_content(self.client.admin.GetTask(admin_pb2.GetTaskRequest(
                task_id=task_id, view=task_pb2.TASK_VIEW_FULL), timeout=DEADLINE_S).task, b"site")
            self.database.make_due()

    def test_a_stage_that_hands_on_nothing_keeps_what_it_got(self):
        self.put()
        self.hand_on()
        self.client.ack(self.take("parse"))
        self.assertEqual(self.take("store").payload, b"pages")

    def test_a_stage_that_is_retried_or_released_has_what_it_got(self):
        self.put()
        self.hand_on()
        self.client.nack(self.take("parse"), retry_delay=seconds(0))
        self.client.nack(self.take("parse"), "RELEASE")
        parsed = self.take("parse")
        self.assertEqual((parsed.payload, parsed.content_type), (b"pages", "application/json"))
        self.client.ack(parsed)
        self.client.ack(self.take("store"))
        self.assert_next_run()

    def test_a_run_that_fails_at_a_later_stage_leaves_the_task_its_content(self):
        self.put()
        self.hand_on()
        self.client.nack(self.take("parse"), "FAIL")
        self.assert_next_run()

    def test_newer_content_that_came_meanwhile_is_that_of_the_next_run(self):
        self.put(version=1, key_policy="KEY_POLICY_RERUN_IF_NEWER")
        self.hand_on()
        parsed = self.take("parse")
        self.put(b"other site", version=2, key_policy="KEY_POLICY_RERUN_IF_NEWER")
        self.client.ack(parsed)
        self.assert_content(self.take("fetch"), b"other site")

    def test_a_task_that_is_replaced_between_two_stages_has_the_new_content_only(self):
        self.put()
        self.hand_on()
        self.put(b"other site", key_policy="KEY_POLICY_REPLACE_WAITING")
        self.assert_next_run(b"other site")


class PeriodicStageByHttp(ByHttp, PeriodicStage):
    pass


if __name__ == "__main__":
    unittest.main()
