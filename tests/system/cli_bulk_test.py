"""Changes of tasks, one by one and by filter."""

import os
import pty
import select
import signal
import subprocess
import unittest

from support.cli import CliTest, program


class Changes(CliTest):
    def setUp(self):
        super().setUp()
        self.client.create_queue("mail")

    def count(self, name):
        return getattr(self.client.queue("mail").counts, f"{name}_count")

    def fail_one(self):
        task_id = self.client.enqueue("mail", max_attempts=1)
        [task] = self.client.lease("mail")
        self.client.nack(task, "FAIL")
        return task_id

    def test_single_tasks_are_changed_by_their_ids(self):
        one, other = self.client.enqueue("mail"), self.client.enqueue("mail")
        self.run_cli("tasks", "prioritize", one, other, "--priority", "-7")
        self.assertEqual(self.client.task(other).priority, -7)
        self.assertIn("is scheduled", self.run_cli("tasks", "reschedule", one, "--postpone", "1h"))
        self.assertIn("is ready", self.run_cli("tasks", "reschedule", one, "--now"))
        self.assertIn("is cancelled", self.run_cli("tasks", "cancel", one))
        self.run_cli("tasks", "delete", other)
        self.run_cli("tasks", "show", other, code=4)

    def test_a_failed_task_starts_again(self):
        task_id = self.fail_one()
        self.assertIn("is ready", self.run_cli("tasks", "retry", task_id))
        self.assertEqual(self.client.state(task_id), "READY")

    def test_the_first_refusal_is_the_exit_code_and_the_others_are_done(self):
        failed = self.fail_one()
        task_id = self.client.enqueue("mail")
        self.run_cli("tasks", "cancel", failed, task_id, code=1)
        self.assertIn("(WRONG_STATE)", self.errors)
        self.assertEqual(self.client.state(task_id), "CANCELLED")

    def test_each_refusal_is_told_once_with_its_task(self):
        failed = self.fail_one()
        one, other = self.client.enqueue("mail"), self.client.enqueue("mail")
        self.run_cli("tasks", "retry", one, other, failed, code=1)
        told = self.errors.splitlines()
        self.assertEqual([line.split(": ")[1] for line in told[:2]], [one, other])
        self.assertEqual(told[2:], ["skiplane: 2 of 3 failed (WRONG_STATE)",
                                    "skiplane tasks show TASK tells the state."])

    def test_a_filter_without_a_terminal_needs_yes(self):
        for number in range(5):
            self.client.enqueue("mail", key=f"a-{number}")
        self.client.enqueue("mail", key="b")
        change = ("tasks", "cancel", "-q", "mail", "--key-prefix", "a-")
        self.run_cli(*change, code=2)
        self.assertIn("would cancel 5 tasks of queue mail", self.errors)
        self.assertEqual(self.run_cli(*change, "--dry-run"),
                         "would cancel 5 tasks of queue mail\n")
        self.assertEqual(self.count("ready"), 6)
        self.assertEqual(self.run_cli(*change, "--yes"), "5 tasks changed of 5 that matched\n")
        self.assertEqual(self.count("ready"), 1)

    def test_tasks_are_changed_by_whether_they_are_periodic(self):
        once = self.client.enqueue("mail")
        daily = self.client.enqueue("mail", key="daily", cron="0 6 * * *")
        for option, task_id in (("--periodic", daily), ("--not-periodic", once)):
            [listed] = self.lines("tasks", "list", "-q", "mail", option)
            self.assertEqual(listed["task_id"], task_id)
        self.run_cli("tasks", "list", "-q", "mail", "--periodic", "--not-periodic", code=2)
        self.run_cli("tasks", "cancel", "-q", "mail", "--not-periodic", "--yes")
        self.assertEqual((self.client.state(once), self.client.state(daily)),
                         ("CANCELLED", "SCHEDULED"))

    def test_all_must_be_said(self):
        self.client.enqueue("mail")
        self.run_cli("tasks", "delete", "-q", "mail", "--yes", code=2)
        self.assertIn("or --all", self.errors)
        [operation] = self.lines("tasks", "delete", "-q", "mail", "--all", "--yes")
        self.assertEqual((operation["state"], operation["changed_count"]),
                         ("BULK_OPERATION_STATE_DONE", "1"))
        listed = self.lines("operations", "list")
        self.assertEqual(listed[0]["operation_id"], operation["operation_id"])
        self.assertEqual((listed[0]["actor"], listed[0]["action"]), ("tester", {"delete": {}}))
        said = self.run_cli("operations", "show", operation["operation_id"])
        self.assertRegex(said, r"action.delete +yes\n")

    def test_a_person_is_asked(self):
        self.client.enqueue("mail")
        self.assertEqual(self.answer("n\n"), 2)
        self.assertEqual(self.count("ready"), 1)
        self.assertEqual(self.answer("y\n"), 0)
        self.assertEqual(self.count("ready"), 0)

    def answer(self, text):
        """The exit code of a change whose question is answered at a terminal."""
        ours, theirs = pty.openpty()
        process = subprocess.Popen([program(), "tasks", "cancel", "-q", "mail", "--all"],
                                   stdin=theirs, stdout=theirs, stderr=theirs,
                                   env=self.environment)
        os.close(theirs)
        seen = b""
        while b"[y/N]" not in seen:
            self.assertTrue(select.select([ours], [], [], 60)[0], seen)
            seen += os.read(ours, 4096)
        self.assertIn(b"Really cancel 1 task of queue mail?", seen)
        os.write(ours, text.encode())
        code = process.wait(60)
        os.close(ours)
        return code

    def test_an_interrupt_that_comes_while_an_operation_is_begun_stops_it(self):
        """It ended the program, and the operation went on."""
        for _ in range(20):
            self.client.enqueue_all("mail", [{}] * 1000)
        lock = self.database.hold("LOCK TABLE skiplane.bulk_operation IN EXCLUSIVE MODE")
        process = self.start_cli("tasks", "prioritize", "-q", "mail", "--all", "--priority", "1",
                                 "--yes")
        self.database.wait_for_lock_wait()
        process.signal(signal.SIGINT)
        lock.release()
        self.assertEqual(process.wait(), 130, process.output)
        self.assertIn("stopped; ", process.output)


if __name__ == "__main__":
    unittest.main()
