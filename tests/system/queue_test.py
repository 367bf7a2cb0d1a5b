"""Queues and their settings, as every broker sees them."""

import unittest

from google.protobuf import field_mask_pb2
from support.by_http import ByHttp
from support.case import SystemTest
from support.client import admin_pb2, queue_pb2, seconds

QUEUE = "settings"


class Queues(SystemTest):
    def setUp(self):
        super().setUp()
        self.broker, self.client = self.start()
        self.other = self.client_of(self.start_broker())

    def update(self, *paths, etag="", client=None, **settings):
        request = admin_pb2.UpdateQueueRequest(
            name=QUEUE, settings=queue_pb2.QueueSettings(**settings), etag=etag,
            update_mask=field_mask_pb2.FieldMask(paths=paths))
        return (client or self.client).admin.UpdateQueue(request, timeout=90).queue

    def test_a_new_queue_has_the_documented_defaults(self):
        queue = self.client.create_queue(QUEUE)
        settings = queue.settings
        self.assertEqual((settings.retry.kind, settings.retry.base_delay.seconds,
                          settings.retry.max_attempts, settings.retry.jitter),
                         (queue_pb2.RETRY_KIND_LINEAR, 300, 10, 0))
        self.assertEqual((settings.history, settings.lease_duration.seconds,
                          settings.max_payload_bytes, queue.lane_count, queue.pause_mode),
                         (queue_pb2.HISTORY_POLICY_ALL, 30, 1 << 20, 1, queue_pb2.PAUSE_MODE_NONE))
        self.assertEqual(self.other.queue(QUEUE).settings, settings)

    def test_creating_it_again_is_fine_with_the_same_settings_only(self):
        first = self.client.create_queue(QUEUE, lane_count=3, max_payload_bytes=10)
        again = self.other.create_queue(QUEUE, lane_count=3, max_payload_bytes=10)
        self.assertEqual(again, first)
        self.assert_refused("ALREADY_EXISTS", "QUEUE_EXISTS", self.other.create_queue,
                            QUEUE, lane_count=3, max_payload_bytes=11)
        self.assert_refused("ALREADY_EXISTS", "QUEUE_EXISTS", self.other.create_queue,
                            QUEUE, lane_count=2, max_payload_bytes=10)

    def test_a_service_that_makes_its_queue_at_each_start_takes_what_an_operator_set(self):
        def create(**fields):
            request = admin_pb2.CreateQueueRequest(name=QUEUE, **fields)
            return self.other.admin.CreateQueue(request, timeout=90).queue
        made = create()
        self.assertEqual((made.lane_count, made.settings.max_payload_bytes), (1, 1 << 20))
        self.update("max_payload_bytes", max_payload_bytes=10)
        self.assertEqual(create().settings.max_payload_bytes, 10)
        self.assertEqual(create(lane_count=1).settings.max_payload_bytes, 10)
        self.assert_refused("ALREADY_EXISTS", "QUEUE_EXISTS", create, lane_count=2)
        self.assert_refused("ALREADY_EXISTS", "QUEUE_EXISTS", create,
                            settings=queue_pb2.QueueSettings())

    def test_the_list_comes_in_pages_by_name(self):
        names = sorted(f"q{number:02}" for number in range(25))
        for name in reversed(names):
            self.client.create_queue(name)
        listed, token, pages = [], "", 0
        while pages == 0 or token:
            request = admin_pb2.ListQueuesRequest(page_size=10, page_token=token)
            answer = self.other.admin.ListQueues(request, timeout=90)
            self.assertLessEqual(len(answer.queues), 10)
            listed += [queue.name for queue in answer.queues]
            token, pages = answer.next_page_token, pages + 1
        self.assertEqual((listed, pages), (names, 3))

    def test_an_update_changes_what_its_mask_names(self):
        self.client.create_queue(QUEUE, max_payload_bytes=10, lease_duration=seconds(60))
        queue = self.update("retry.max_attempts", "lease_duration", lease_duration=seconds(5),
                            max_payload_bytes=99, retry=queue_pb2.RetryPolicy(max_attempts=2))
        self.assertEqual((queue.settings.retry.max_attempts, queue.settings.lease_duration.seconds,
                          queue.settings.max_payload_bytes,
                          queue.settings.retry.base_delay.seconds), (2, 5, 10, 300))
        queue = self.update("*", history=queue_pb2.HISTORY_POLICY_NONE)
        self.assertEqual((queue.settings.max_payload_bytes, queue.settings.history),
                         (1 << 20, queue_pb2.HISTORY_POLICY_NONE))

    def test_an_unknown_path_or_another_etag_changes_nothing(self):
        old = self.client.create_queue(QUEUE)
        new = self.update("max_payload_bytes", max_payload_bytes=10, etag=old.etag)
        self.assertNotEqual(new.etag, old.etag)
        self.assert_refused("ABORTED", "ETAG_MISMATCH", self.update, etag=old.etag,
                            max_payload_bytes=20)
        self.assert_refused("INVALID_ARGUMENT", "INVALID_FIELD", self.update, "colour")
        self.assertEqual(self.other.queue(QUEUE).settings, new.settings)
        self.update("max_payload_bytes", max_payload_bytes=20, etag=new.etag, client=self.other)

    def test_an_update_reaches_the_other_broker(self):
        self.client.create_queue(QUEUE)
        self.other.enqueue(QUEUE, b"known there")
        self.update("max_payload_bytes", max_payload_bytes=3)
        self.until_refused("INVALID_ARGUMENT", "INVALID_FIELD", b"too long")

    def until_refused(self, code, reason, payload):
        """A notification tells the other broker; until it arrives, calls there are still taken."""
        for _ in range(10000):
            try:
                self.other.enqueue(QUEUE, payload)
            except Exception:  # pylint: disable=broad-except
                self.assert_refused(code, reason, self.other.enqueue, QUEUE, payload)
                return
        self.fail("never refused")

    def test_a_lease_pause_holds_back_leases_only(self):
        self.client.create_queue(QUEUE)
        paused = self.client.pause(QUEUE, "LEASE", "deploy")
        self.assertEqual((paused.pause_mode, paused.pause_reason),
                         (queue_pb2.PAUSE_MODE_LEASE, "deploy"))
        self.client.enqueue(QUEUE, b"kept")
        answer = self.client.lease_call(QUEUE)
        self.assertEqual((list(answer.tasks), list(answer.paused_queues)), ([], [QUEUE]))
        self.assertEqual(self.client.resume(QUEUE).pause_mode,
                         queue_pb2.PAUSE_MODE_NONE)
        self.assertEqual(self.client.lease(QUEUE)[0].payload, b"kept")

    def test_an_enqueue_pause_refuses_enqueues_only(self):
        self.client.create_queue(QUEUE)
        self.client.enqueue(QUEUE, b"before")
        self.client.pause(QUEUE, "ENQUEUE")
        self.assert_refused("FAILED_PRECONDITION", "QUEUE_PAUSED", self.client.enqueue, QUEUE)
        [task] = self.client.lease(QUEUE)
        self.assertEqual(self.client.ack(task), ["SETTLED"])
        self.client.resume(QUEUE)
        self.client.enqueue(QUEUE, b"after")

    def test_a_pause_of_both_lets_running_attempts_go_on(self):
        self.client.create_queue(QUEUE)
        self.client.enqueue(QUEUE)
        [task] = self.client.lease(QUEUE, worker_id="w")
        self.client.pause(QUEUE, "BOTH")
        self.assert_refused("FAILED_PRECONDITION", "QUEUE_PAUSED", self.client.enqueue, QUEUE)
        self.assertTrue(self.client.heartbeat("w", 30, task).session_alive)
        self.assertEqual(self.client.ack(task), ["SETTLED"])

    def test_the_other_broker_sees_pauses(self):
        self.client.create_queue(QUEUE)
        self.other.enqueue(QUEUE, b"known there")
        self.client.pause(QUEUE, "BOTH", "reason")
        self.until_refused("FAILED_PRECONDITION", "QUEUE_PAUSED", b"x")
        answer = self.other.lease_call(QUEUE)
        self.assertEqual((list(answer.tasks), list(answer.paused_queues)), ([], [QUEUE]))
        self.assertEqual(self.other.queue(QUEUE).pause_reason, "reason")

    def test_queues_are_made_at_first_use_only_if_that_was_asked_for(self):
        self.assert_refused("NOT_FOUND", "QUEUE_NOT_FOUND", self.client.enqueue, QUEUE)
        generous = self.client_of(self.start_broker("--auto-create-queues"))
        parked = generous.lease_later("first.lease")
        generous.enqueue("first.lease", b"a")
        self.assertEqual(parked.result().tasks[0].payload, b"a")
        generous.enqueue(QUEUE, b"b")
        self.assertEqual(self.client.lease(QUEUE)[0].payload, b"b")
        self.assertEqual(self.client.queue(QUEUE).settings.retry.max_attempts, 10)


class QueuesByHttp(ByHttp, Queues):
    pass


if __name__ == "__main__":
    unittest.main()
