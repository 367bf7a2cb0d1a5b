"""Lists, errors, statistics, workers, records of changes and schedules."""

import time
import unittest

from support.case import slow
from support.cli import CliTest
from support.client import task_pb2
from support.process import GENEROUS_S


@slow
class Reports(CliTest):
    def setUp(self):
        super().setUp()
        self.client.create_queue("mail")

    def fail_one(self, kind, text):
        task_id = self.client.enqueue("mail", key=text)
        [task] = self.client.lease("mail")
        self.client.nack(task, "FAIL", error=task_pb2.TaskError(type=kind, text=text.encode()))
        return task_id

    def test_tasks_are_listed_by_filter_in_pages(self):
        self.client.enqueue_all("mail", [{"key": f"a-{number:04}"} for number in range(1000)])
        self.client.enqueue_all("mail", [{"key": f"b-{number:04}"} for number in range(500)])
        listed = self.lines("tasks", "list", "mail", "--key-prefix", "b-", "--limit", "0")
        self.assertEqual(len(listed), 500)
        self.assertEqual(len(self.run_cli("tasks", "list", "mail").splitlines()), 101)
        self.assertIn("--limit 0", self.errors)

    def test_failed_tasks_are_listed_with_their_error(self):
        task_id = self.fail_one("SmtpError", "no answer")
        self.client.enqueue("mail")
        head, line = self.run_cli("tasks", "list", "mail", "--state", "failed").splitlines()
        self.assertEqual(head.split()[0], "TASK")
        self.assertEqual((line.split()[0], line.split()[-1]), (task_id, "SmtpError"))

    def test_a_task_is_explained(self):
        task_id = self.client.enqueue("mail")
        [answer] = self.lines("tasks", "explain", task_id)
        self.assertIn("WAIT_REASON_NO_WORKER", answer["reasons"])
        self.assertEqual(self.run_cli("tasks", "explain", task_id).splitlines()[0],
                         answer["explanation"])

    def test_a_task_is_shown_by_its_key_when_it_has_ended(self):
        self.client.update_queue("mail", "keep_results", keep_results=True)
        task_id = self.client.enqueue("mail", key="order-17")
        [early] = self.lines("tasks", "show", "-q", "mail", "--key", "order-17", "--wait", "1s")
        self.assertEqual((early["task"]["task_id"], early["task"]["state"]),
                         (task_id, "TASK_STATE_READY"))
        shown = self.start_cli("tasks", "show", "-q", "mail", "--key", "order-17", "--wait", "5m")
        end = time.monotonic() + GENEROUS_S
        while self.broker.metrics()["skiplane_awaiting_calls"] == 0:
            self.assertLess(time.monotonic(), end, "it does not wait")
        [task] = self.client.lease("mail")
        self.client.ack_results(task, result=b"sent")
        self.assertEqual(shown.wait(), 0, shown.output)
        self.assertRegex(shown.output, r"state +succeeded")
        self.assertRegex(shown.output, r"result +sent")

    def test_a_task_is_shown_by_queue_and_key_in_one_word(self):
        task_id = self.client.enqueue("mail", key="order/17")
        [shown] = self.lines("tasks", "show", "mail/order/17")
        self.assertEqual(shown["task"]["task_id"], task_id)
        self.run_cli("tasks", "show", "mail/order", code=4)

    def test_all_queues_are_followed_when_none_is_named(self):
        self.client.create_queue("sms")
        tail = self.start_cli("tail", "--interval", "100ms")
        end = time.monotonic() + GENEROUS_S
        while "sms  succeeded +0" not in tail.output:  # it tells only of what comes after its start
            self.assertLess(time.monotonic(), end, tail.output)
            self.client.enqueue("sms")
        self.fail_one("SmtpError", "no answer")
        tail.wait_for_output("mail  error SmtpError")
        self.run_cli("tail", "--new-tasks", code=2)
        self.assertIn("tail QUEUE --new-tasks", self.errors)

    def test_which_task_is_shown_must_be_said_in_one_way(self):
        for wrong in ((), ("1-1", "-q", "mail", "--key", "k"), ("1-1", "--key", "k"),
                      ("-q", "mail"), ("--key", "k")):
            self.run_cli("tasks", "show", *wrong, code=2)
            self.assertIn("which task?", self.errors, wrong)

    def test_errors_are_grouped_and_retried(self):
        for number in range(3):
            self.fail_one("SmtpError", f"server {number} does not answer")
        [group] = self.lines("errors", "list", "mail")
        self.assertEqual((group["type"], group["failed_count"]), ("SmtpError", "3"))
        said = self.run_cli("errors", "retry", "mail", group["fingerprint"], "--dry-run")
        self.assertEqual(said, "would retry 3 tasks of queue mail\n")
        self.assertEqual(self.client.queue("mail").counts.failed_count, 3)
        self.run_cli("errors", "retry", "mail", "", "--dry-run", code=2)
        said = self.run_cli("errors", "retry", "mail", group["fingerprint"])
        self.assertEqual(said, "3 tasks changed of 3 that matched\n")
        self.assertEqual(self.client.queue("mail").counts.ready_count, 3)

    def test_attempts_are_counted_by_hour(self):
        self.client.enqueue("mail")
        self.client.ack(*self.client.lease("mail"))
        self.assertTrue(self.run_cli("stats", "mail").startswith("HOUR"))

    def test_workers_are_listed(self):
        self.client.enqueue("mail")
        self.client.lease("mail", worker_id="w1", worker_name="host:1")
        [worker] = self.lines("workers")
        handle = self.database.value("SELECT worker_handle FROM skiplane.workers")
        self.assertEqual((worker["name"], worker["worker_handle"]), ("host:1", handle))
        self.assertNotIn("w1", self.run_cli("workers"))

    def test_a_worker_is_asked_and_the_list_tells_it(self):
        self.client.enqueue("mail")
        self.client.lease("mail", worker_id="w1", worker_name="host:1", concurrency=4,
                          client_version="mailer/7")
        [handle] = [worker["worker_handle"] for worker in self.lines("workers")]
        for command in ("quiet", "stop", "run"):
            [asked] = self.lines("workers", command, handle)
            self.assertEqual((asked["worker_handle"], asked["command"]),
                             (handle, "WORKER_COMMAND_" + command.upper()))
            listed = self.run_cli("workers")
            for word in (command, "mailer/7", "4"):
                self.assertIn(word, listed.splitlines()[1].split())

    def test_a_worker_that_is_gone_cannot_be_asked(self):
        self.run_cli("workers", "stop", "0123456789abcdef", code=4)
        self.assertIn("skiplane workers shows those that live.", self.errors)

    def test_asking_a_worker_is_not_repeated_as_a_view_is(self):
        self.run_cli("workers", "stop", "0123456789abcdef", "--watch=1", code=2)

    def test_what_one_worker_holds_is_listed(self):
        self.client.enqueue_all("mail", [{}] * 3)
        [held] = self.client.lease("mail", worker_id="w1", worker_name="host:1")
        self.client.lease("mail", worker_id="w2", worker_name="host:2")
        [handle] = [worker["worker_handle"] for worker in self.lines("workers")
                    if worker["name"] == "host:1"]
        listed = self.lines("tasks", "list", "mail", "--worker", handle)
        self.assertEqual([task["task_id"] for task in listed], [held.task_id])
        self.run_cli("tasks", "list", "mail", "--worker", "host:1", code=1)
        self.assertIn("16 hexadecimal digits", self.errors)

    def test_changes_are_recorded_with_their_actor(self):
        self.run_cli("queues", "pause", "mail")
        records = self.lines("audit", "--queue", "mail", "--limit", "1")
        self.assertEqual((records[0]["actor"], records[0]["method"]), ("tester", "PauseQueue"))

    def test_periodic_tasks_are_listed_and_steered(self):
        [made] = self.lines("enqueue", "mail", "x", "--key", "daily", "--cron", "0 6 * * *",
                            "--time-zone", "Europe/Berlin")
        task_id = made["task_id"]
        [listed] = self.lines("schedules", "list", "mail")
        self.assertEqual((listed["task_id"], listed["recurrence"]["cron"]), (task_id, "0 6 * * *"))
        self.run_cli("schedules", "pause", task_id)
        self.assertTrue(self.client.task(task_id).recurrence.paused)
        self.run_cli("schedules", "trigger", task_id)
        self.assertEqual(self.client.lease("mail")[0].task_id, task_id)
        self.assertEqual(len(self.run_cli("schedules", "preview", task_id).splitlines()), 10)

    def test_planned_times_are_told_without_a_task(self):
        said = self.run_cli("schedules", "preview", "--cron", "0 6 * * *", "--start",
                            "2026-11-21T00:00:00Z", "--count", "2")
        self.assertEqual(said, "2026-11-21 06:00:00\n2026-11-22 06:00:00\n")
        self.run_cli("schedules", "preview", code=2)


class Pipelines(CliTest):
    def test_a_worker_of_a_stage_takes_its_tasks_and_leaves_results(self):
        self.run_cli("queues", "create", "video", "--stage", "fetch", "--stage", "encode",
                     "--keep-results", "yes")
        task_id = self.client.enqueue("video", b"in")
        tail = self.start_cli("tail", "video", "--interval", "100ms")
        tail.wait_for_output("ready 1  leased 0")  # it tells only of what comes after its start
        worker = self.start_cli("work", "video:fetch", "--result", "--", "tr", "a-z", "A-Z")
        tail.wait_for_output("succeeded +1")
        self.assertEqual(worker.terminate(), 0)
        [shown] = self.lines("tasks", "show", task_id)
        self.assertEqual((shown["task"]["stage"], shown["attempts"][0]["result"]),
                         ("encode", "SU4="))

    def test_results_are_shown_with_their_attempts(self):
        self.run_cli("queues", "create", "words", "--keep-results", "yes")
        for given, shown in (("printf '12 words\\nof 3\\n'", "12 words of 3"),
                             ("printf 'ü%.0s' $(seq 100)", "ü" * 59 + "…"),
                             ("printf '\\377\\376'", "2 bytes, not UTF-8")):
            task_id = self.client.enqueue("words", given.encode())
            self.run_cli("work", "words", "--result", "--burst", "--", "sh")
            _, head, line = self.run_cli("tasks", "show", task_id).rsplit("\n", 3)[:3]
            self.assertIn("  RESULT", head)
            self.assertTrue(line.endswith("  " + shown), line)

    def test_attempts_without_results_have_no_such_column(self):
        self.client.create_queue("mail")
        task_id = self.client.enqueue("mail")
        self.client.ack(*self.client.lease("mail"))
        said = self.run_cli("tasks", "show", task_id)
        self.assertIn("OUTCOME", said)
        self.assertNotIn("RESULT", said)


if __name__ == "__main__":
    unittest.main()
