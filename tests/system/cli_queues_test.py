"""The command line on queues and single tasks, its exit codes and its views."""

import signal
import unittest

from support.cli import CliTest
from support.client import queue_pb2


class Queues(CliTest):
    def test_a_queue_is_made_changed_and_shown(self):
        said = self.run_cli("queues", "create", "mail", "--max-attempts", "5", "--retry",
                            "exponential", "--base-delay", "1m30s", "--lane-count", "2")
        self.assertRegex(said, r"settings.retry.max_attempts +5\n")
        self.assertRegex(said, r"settings.retry.base_delay +1m30s\n")
        self.run_cli("queues", "update", "mail", "--max-attempts", "7")
        retry = self.client.queue("mail").settings.retry
        self.assertEqual((retry.max_attempts, retry.base_delay.seconds), (7, 90))

    def test_limits_are_set_and_taken_away(self):
        said = self.run_cli("queues", "create", "mail", "--max-depth", "1000",
                            "--max-bytes", "5000", "--max-enqueue-rate", "2.5")
        self.assertRegex(said, r"settings.max_depth +1000\n")
        settings = self.client.queue("mail").settings
        self.assertEqual((settings.max_depth, settings.max_bytes, settings.max_enqueue_rate),
                         (1000, 5000, 2.5))
        said = self.run_cli("queues", "update", "mail", "--max-depth", "none",
                            "--max-enqueue-rate", "7")
        self.assertNotIn("max_depth", said)
        settings = self.client.queue("mail").settings
        self.assertFalse(settings.HasField("max_depth"))
        self.assertEqual((settings.max_bytes, settings.max_enqueue_rate), (5000, 7))
        self.run_cli("queues", "create", "plain", "--max-depth", "none")
        self.assertFalse(self.client.queue("plain").settings.HasField("max_depth"))

    def test_stages_have_their_own_settings_and_keep_them(self):
        self.run_cli("queues", "create", "video", "--max-attempts", "9", "--stage", "fetch",
                     "--stage", "encode lease-duration=2m max-attempts=3 delays=1s,5m")
        self.run_cli("queues", "update", "video", "--stage", "get", "--stage", "encode delays=7s",
                     "--stage", "publish retry=fixed base-delay=4s")
        fetch, encode, publish = self.client.queue("video").settings.stages
        self.assertEqual((fetch.name, encode.name, publish.name), ("get", "encode", "publish"))
        self.assertEqual((encode.lease_duration.seconds, encode.retry.max_attempts), (120, 3))
        self.assertEqual([delay.seconds for delay in encode.retry.delays], [7])
        self.assertEqual((publish.retry.kind, publish.retry.base_delay.seconds),
                         (queue_pb2.RETRY_KIND_FIXED, 4))
        self.run_cli("queues", "update", "video", "--stage", "fetch lease-duration=9s", "--stage",
                     "encode", "--stage", "publish")
        fetch, encode, _ = self.client.queue("video").settings.stages
        self.assertEqual((fetch.name, fetch.lease_duration.seconds), ("fetch", 9))
        self.assertEqual(encode.lease_duration.seconds, 120)
        said = self.run_cli("queues", "show", "video")
        self.assertRegex(said, r"STAGE +LEASE +MAX RUN +RETRY +BASE DELAY +MAX ATTEMPTS")
        self.assertRegex(said, r"fetch +9s\n")  # the rest is the queue's
        self.assertRegex(said, r"encode +2m +\w+ +\S+ +3\n")
        self.assertRegex(said, r"publish +fixed +4s +10\n")

    def test_a_bad_setting_of_a_stage_is_named(self):
        for text, said in (("", "--stage: the name is missing"),
                           ("encode history=all", "--stage encode: history: "),
                           ("encode lease-duration=soon", "--stage encode: lease-duration: ")):
            self.run_cli("queues", "create", "video", "--stage", text, code=2)
            self.assertIn(said, self.errors)

    def test_lists_hold_counts_for_people_and_for_programs(self):
        self.client.create_queue("mail")
        self.client.create_queue("video")
        self.client.enqueue("mail")
        head, mail, video = self.run_cli("queues", "list").splitlines()
        self.assertEqual(head.split()[:4], ["QUEUE", "PAUSED", "SCHEDULED", "READY"])
        self.assertEqual(mail.split()[2:4], ["0", "1"])
        self.assertEqual((mail.split()[0], video.split()[0]), ("mail", "video"))
        documents = self.lines("queues", "list")
        self.assertEqual([queue["name"] for queue in documents], ["mail", "video"])
        self.assertEqual(documents[0]["counts"]["ready_count"], "1")
        self.assertNotIn("counts", self.lines("queues", "list", "--no-counts")[0])

    def test_a_pause_has_a_mode_and_a_reason(self):
        self.client.create_queue("mail")
        self.run_cli("queues", "pause", "mail", "--mode", "both", "--reason", "deploy")
        queue = self.client.queue("mail")
        self.assertEqual((queue.pause_mode, queue.pause_reason), (3, "deploy"))
        self.run_cli("enqueue", "mail", "x", code=1)
        self.assertIn("(QUEUE_PAUSED)", self.errors)
        self.run_cli("queues", "resume", "mail")
        self.assertEqual(self.client.queue("mail").pause_mode,
                         queue_pb2.PAUSE_MODE_NONE)

    def test_a_queue_is_deleted_when_all_of_it_is_meant(self):
        self.client.create_queue("mail")
        self.client.enqueue("mail")
        self.client.enqueue("mail")
        self.run_cli("queues", "delete", "mail", code=1)
        self.assertIn("queue mail has unfinished tasks (2); nothing was changed", self.errors)
        self.assertIn("(QUEUE_NOT_EMPTY)", self.errors)
        self.run_cli("queues", "delete", "mail", "--yes", code=1)
        self.assertIn("(QUEUE_NOT_EMPTY)", self.errors)
        self.run_cli("queues", "delete", "mail", "--with-tasks", code=2)
        self.assertIn("would delete queue mail with 2 tasks; nothing was done", self.errors)
        said = self.run_cli("queues", "delete", "mail", "--with-tasks", "--yes")
        self.assertEqual(said, "queue mail is deleted, with 2 tasks\n")
        self.run_cli("queues", "show", "mail", code=4)

    def test_a_queue_goes_whose_failed_tasks_went_with_their_day(self):
        self.client.create_queue("mail")
        self.client.enqueue("mail")
        self.client.ack(*self.client.lease("mail"))
        self.database.run("UPDATE skiplane.counter SET failed = 3")
        self.database.run("UPDATE skiplane.counter_delta SET failed = 3")
        self.assertGreater(self.client.queue("mail").counts.failed_count, 0)
        self.run_cli("queues", "delete", "mail", code=2)
        self.assertIn("would delete queue mail; nothing was done", self.errors)
        self.run_cli("queues", "delete", "mail", "--yes")

    def test_a_queue_named_like_a_command_is_a_queue(self):
        self.run_cli("queues", "create", "stats")
        self.run_cli("enqueue", "stats", "list")
        self.assertEqual(self.client.lease("stats")[0].payload, b"list")

    def test_a_task_is_shown_with_its_payload(self):
        self.client.create_queue("mail")
        task_id = self.client.enqueue("mail", b"he\x1bllo", key="k")
        said = self.run_cli("tasks", "show", task_id)
        self.assertRegex(said, r"state +ready\n")
        self.assertRegex(said, r"key +k\n")
        self.assertNotIn("\x1b", said)

    def test_bytes_are_shown_by_their_size(self):
        self.client.create_queue("mail")
        said = self.run_cli("tasks", "show", self.client.enqueue("mail", b"\xff" * 1234))
        self.assertRegex(said, r"payload +1,234 bytes, not UTF-8\n")

    def test_exit_codes_tell_what_went_wrong(self):
        self.run_cli("queues", "show", "nothing", code=4)
        self.assertIn("(QUEUE_NOT_FOUND)", self.errors)
        self.run_cli("queues", "create", "bad name", code=1)
        self.run_cli("queues", "create", "mail", "--base-delay", "5", code=2)
        self.run_cli("queues", "update", "mail", code=2)
        self.run_cli("queues", "list", "--broker", "127.0.0.1:1", "--timeout", "1s", code=3)
        self.run_cli("work", "mail", "--", "/no/such/program", code=5)
        self.run_cli("--help")

    def test_a_view_without_a_terminal_prints_snapshots_until_it_is_interrupted(self):
        self.client.create_queue("mail")
        view = self.start_cli("queues", "list", "--watch=0.1", "--json")
        view.wait_for_output('"ready_count":"0"')
        self.client.enqueue("mail")
        view.wait_for_output('"ready_count":"1"')
        view.signal(signal.SIGINT)
        self.assertEqual(view.wait(), 0)
        self.assertNotIn("\x1b", view.output)

    def test_tail_tells_of_changes(self):
        self.client.create_queue("mail")
        tail = self.start_cli("tail", "mail", "--interval", "100ms")
        tail.wait_for_output("ready 0  leased 0")
        self.client.enqueue("mail")
        tail.wait_for_output("ready 1  leased 0")
        self.client.ack(*self.client.lease("mail"))
        tail.wait_for_output("succeeded +1")
        self.assertEqual(tail.terminate(), 0)


if __name__ == "__main__":
    unittest.main()
