"""Which settings an UpdateQueue takes: those that its mask names, or without a mask those that are
set. Each case is tried by gRPC and by HTTP in JSON."""

import itertools
import unittest

import grpc

from support.client import DEADLINE_S, admin_pb2, fields_of, queue_pb2, reason_of, seconds
from support.http_case import HttpTest
from google.protobuf import json_format  # isort: skip  (after the client's)

UPDATE = "AdminService/UpdateQueue"
UPDATES = "SELECT count(*) FROM skiplane.audit WHERE method_name = 'UpdateQueue'"


def retry_of(**fields):
    return queue_pb2.RetryPolicy(**fields)


def settings_of(**fields):
    return queue_pb2.QueueSettings(**fields)


# All of it differs from the defaults.
MADE = settings_of(lease_duration=seconds(60), max_payload_bytes=10, keep_results=True,
                   history=queue_pb2.HISTORY_POLICY_FAILURES, history_days=9,
                   retry=retry_of(max_attempts=3, jitter=0.25, base_delay=seconds(7)))


class Refused(Exception):
    """By either way: the code of HTTP, the reason, the field, and what is said to people."""


class UpdateMask(HttpTest):
    def setUp(self):
        super().setUp()
        self._numbers = itertools.count()

    def make(self, settings=MADE):
        """The name of a new queue."""
        name = f"q{next(self._numbers)}"
        request = admin_pb2.CreateQueueRequest(name=name, settings=settings)
        self.client.admin.CreateQueue(request, timeout=DEADLINE_S)
        return name

    def by_grpc(self, request):
        try:
            return self.client.admin.UpdateQueue(request, timeout=DEADLINE_S).queue.settings
        except grpc.RpcError as error:
            raise Refused(error.code().name.lower(), reason_of(error), "".join(fields_of(error)),
                          error.details()) from error

    def by_json(self, request):
        """The mask is one text, its names as JSON has them: "leaseDuration,retry.maxAttempts"."""
        answer = self.http.call(UPDATE, json_format.MessageToDict(request))
        if answer.status != 200:
            raise Refused(answer.code(), answer.reason(),
                          answer.headers["trailer-skiplane-field"], answer.json()["message"])
        return answer.message(admin_pb2.UpdateQueueResponse).queue.settings

    def each_way(self, settings, paths):
        """Of each way: its name, a queue made as MADE, and what updates that; without a mask if
        `paths` is None."""
        for way in (self.by_grpc, self.by_json):
            name = self.make()
            request = admin_pb2.UpdateQueueRequest(name=name, settings=settings)
            if paths is not None:
                request.update_mask.paths.extend(paths)
            yield way.__name__, name, lambda way=way, request=request: way(request)

    def assert_changes(self, settings, paths, changes):
        """The update changes this of MADE, and no more."""
        for way, name, update in self.each_way(settings, paths):
            with self.subTest(way=way, paths=paths):
                wanted = self.client.queue(name).settings
                wanted.MergeFrom(changes)
                self.assertEqual(update(), wanted)
                self.assertEqual(self.client.queue(name).settings, wanted)

    def assert_becomes(self, settings, paths, like):
        """The queue is then as one that is created with `like`."""
        for way, name, update in self.each_way(settings, paths):
            with self.subTest(way=way, paths=paths):
                wanted = self.client.queue(self.make(like)).settings
                self.assertEqual(update(), wanted)
                self.assertEqual(self.client.queue(name).settings, wanted)

    def assert_refused_on(self, field, settings, paths, says=""):
        """Nothing is changed, and the audit has nothing of it."""
        for way, name, update in self.each_way(settings, paths):
            with self.subTest(way=way, paths=paths, field=field):
                before = self.client.queue(name)
                updates = self.database.number(UPDATES)
                with self.assertRaises(Refused) as refusal:
                    update()
                self.assertEqual(refusal.exception.args[:3],
                                 ("invalid_argument", "INVALID_FIELD", field))
                self.assertIn(says, refusal.exception.args[3])
                self.assertEqual(self.client.queue(name), before)
                self.assertEqual(self.database.number(UPDATES), updates)

    def test_without_a_mask_what_is_set_is_taken(self):
        settings = settings_of(lease_duration=seconds(5), retry=retry_of(max_attempts=2))
        self.assert_changes(settings, None, settings)
        settings = settings_of(stages=[queue_pb2.Stage(name="only")])
        self.assert_changes(settings, None, settings)

    def test_a_mask_without_paths_is_none(self):
        request = admin_pb2.UpdateQueueRequest(name=self.make(),
                                               settings=settings_of(max_payload_bytes=99))
        request.update_mask.SetInParent()
        settings = self.by_grpc(request)
        self.assertEqual((settings.max_payload_bytes, settings.history_days), (99, 9))

    def test_without_a_mask_zero_and_no_are_set(self):
        settings = settings_of(keep_results=False, retry=retry_of(jitter=0))
        self.assert_changes(settings, None, settings)
        self.assert_refused_on("settings.max_payload_bytes", settings_of(max_payload_bytes=0), None)

    def test_without_a_mask_and_with_nothing_set_nothing_is_meant(self):
        for settings in (settings_of(), settings_of(retry=retry_of())):
            self.assert_refused_on("settings", settings, None, says="update_mask")

    def test_a_star_is_all_settings_those_that_are_unset_too(self):
        settings = settings_of(lease_duration=seconds(5), retry=retry_of(max_attempts=2))
        self.assert_becomes(settings, ["*"], like=settings)
        self.assert_becomes(settings_of(), ["*"], like=settings_of())

    def test_a_path_takes_its_field_and_no_other(self):
        settings = settings_of(lease_duration=seconds(5), max_payload_bytes=99,
                               retry=retry_of(max_attempts=2, base_delay=seconds(1)))
        self.assert_changes(settings, ["lease_duration"], settings_of(lease_duration=seconds(5)))
        self.assert_changes(settings, ["retry.max_attempts"],
                            settings_of(retry=retry_of(max_attempts=2)))
        self.assert_changes(settings, ["max_payload_bytes", "retry.base_delay"],
                            settings_of(max_payload_bytes=99,
                                        retry=retry_of(base_delay=seconds(1))))

    def test_the_path_of_a_message_takes_the_whole_message(self):
        policy = retry_of(max_attempts=2)
        self.assert_changes(settings_of(retry=policy), ["retry"], settings_of(
            retry=retry_of(max_attempts=2, jitter=0, base_delay=seconds(300))))

    def test_a_field_that_is_named_and_unset_returns_to_its_default(self):
        self.assert_changes(
            settings_of(),
            ["max_payload_bytes", "keep_results", "history", "history_days", "retry.jitter"],
            settings_of(max_payload_bytes=1 << 20, keep_results=False, history_days=7,
                        history=queue_pb2.HISTORY_POLICY_ALL, retry=retry_of(jitter=0)))

    def test_a_zero_that_is_named_is_a_value(self):
        self.assert_changes(settings_of(retry=retry_of(jitter=0)), ["retry.jitter"],
                            settings_of(retry=retry_of(jitter=0)))
        for name in ("max_payload_bytes", "history_days", "failed_days"):
            self.assert_refused_on(f"settings.{name}", settings_of(**{name: 0}), [name])
        for name in ("max_attempts", "factor"):
            self.assert_refused_on(f"settings.retry.{name}",
                                   settings_of(retry=retry_of(**{name: 0})), [f"retry.{name}"])

    def test_a_path_that_is_unknown_is_named(self):
        for path in ("colour", "name", "lane_count", "settings", "settings.history",
                     "lease_duration.seconds", "stages.name", "retry.colour", "retry.*"):
            self.assert_refused_on("update_mask.paths[1]", settings_of(keep_results=False),
                                   ["keep_results", path], says="QueueSettings")

    def test_a_path_is_named_once_and_a_star_stands_alone(self):
        self.assert_refused_on("update_mask.paths[0]", settings_of(), ["*", "history"],
                               says="only path")
        self.assert_refused_on("update_mask.paths[1]", settings_of(), ["history", "*"],
                               says="only path")
        self.assert_refused_on("update_mask.paths[1]", settings_of(), ["history", "history"],
                               says="twice")


class Json(HttpTest):
    """What JSON has of its own."""

    def setUp(self):
        super().setUp()
        self.client.create_queue("q", max_payload_bytes=10, lease_duration=seconds(60))

    def update(self, mask, **settings):
        answer = self.http.call(UPDATE, {"name": "q", "settings": settings, "updateMask": mask})
        self.assertEqual(answer.status, 200, answer.body)
        return answer.json()["queue"]["settings"]

    def test_the_names_of_a_mask_may_be_those_of_the_proto_files(self):
        for mask, limit in (("retry.maxAttempts,maxPayloadBytes", 11),
                            ("retry.max_attempts,max_payload_bytes", 12)):
            settings = self.update(mask, maxPayloadBytes=limit, retry={"maxAttempts": limit})
            self.assertEqual((settings["maxPayloadBytes"], settings["retry"]["maxAttempts"],
                              settings["leaseDuration"]), (limit, limit, "60s"))

    def test_null_is_unset(self):
        self.assertEqual(self.update("maxPayloadBytes", maxPayloadBytes=None)["maxPayloadBytes"],
                         1 << 20)
        settings = self.update(None, maxPayloadBytes=None, leaseDuration="5s")
        self.assertEqual((settings["maxPayloadBytes"], settings["leaseDuration"]), (1 << 20, "5s"))

    def test_settings_that_are_zero_or_no_are_in_the_answer(self):
        settings = self.update("leaseDuration", leaseDuration="5s")
        self.assertEqual((settings["retry"]["jitter"], settings["keepPayloads"]), (0, False))

    def test_an_empty_text_is_no_mask(self):
        settings = self.update("", leaseDuration="5s")
        self.assertEqual((settings["leaseDuration"], settings["maxPayloadBytes"]), ("5s", 10))
        answer = self.http.call(UPDATE, {"name": "q", "updateMask": ""})
        self.assertEqual((answer.status, answer.reason(), answer.headers["trailer-skiplane-field"]),
                         (400, "INVALID_FIELD", "settings"))

    def test_a_mask_of_another_form_is_refused(self):
        for mask in (7, ["history"], {"paths": ["history"]}, "retry("):
            with self.subTest(mask=mask):
                answer = self.http.call(UPDATE, {"name": "q", "updateMask": mask})
                self.assertEqual((answer.status, answer.reason(),
                                  answer.headers["trailer-skiplane-field"]),
                                 (400, "INVALID_FIELD", "update_mask"))


if __name__ == "__main__":
    unittest.main()
