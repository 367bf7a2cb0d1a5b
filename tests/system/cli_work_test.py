"""A worker of any program."""

import os
import signal
import tempfile
import unittest

from support.cli import CliTest
from support.client import state_name


class Work(CliTest):
    def setUp(self):
        super().setUp()
        self.client.create_queue("mail")
        folder = tempfile.TemporaryDirectory(prefix="skiplane-cli-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def work(self, script, *options):
        worker = self.start_cli("work", "mail", *options, "--", "sh", "-c", script)
        worker.wait_for_output("skiplane: working")
        return worker

    def end(self, worker, counts):
        worker.signal(signal.SIGTERM)
        self.assertEqual(worker.wait(), 0, worker.output)
        self.assertIn(f"skiplane: {counts}\n", worker.output)

    def error_of(self, task_id):
        error = self.client.task(task_id).last_error
        return error.type, error.text.decode()

    def test_payload_and_environment_reach_the_program(self):
        self.client.enqueue("mail", b"hello", key="k", headers={"Trace-Id": "7"})
        worker = self.work('cat; echo " $SKIPLANE_QUEUE $SKIPLANE_KEY $SKIPLANE_ATTEMPT '
                           '$SKIPLANE_HEADER_TRACE_ID $SKIPLANE_TASK_ID"')
        worker.wait_for_output("hello mail k 1 7 ")
        self.end(worker, "1 done, 0 retried, 0 failed, 0 released, 0 lost")
        self.assertEqual(self.client.queue("mail").counts.succeeded_count, 1)

    def test_exit_codes_decide_what_becomes_of_a_task(self):
        again, failed, killed = (self.client.enqueue("mail", code)
                                 for code in (b"exit 75", b"exit 65", b"kill -9 $$"))
        worker = self.work('echo "reason of $$" >&2; read code; eval "$code"; echo never',
                           "--concurrency", "3")
        self.end_when_settled(worker)
        self.assertEqual([self.client.state(task) for task in (again, failed, killed)],
                         ["SCHEDULED", "FAILED", "SCHEDULED"])
        self.assertEqual([self.error_of(task)[0] for task in (again, failed, killed)],
                         ["exit 75", "exit 65", "signal 9"])
        self.assertRegex(self.error_of(failed)[1], r"^reason of \d+\n$")

    def end_when_settled(self, worker):
        tail = self.start_cli("tail", "mail", "--interval", "100ms")
        tail.wait_for_output("ready 0  leased 0")
        tail.end()
        worker.terminate()

    def test_other_codes_may_fail_for_good(self):
        task = self.client.enqueue("mail", b"")
        worker = self.work("exit 3", "--fail-codes", "3,4")
        self.end_when_settled(worker)
        self.assertEqual(self.client.state(task), "FAILED")

    def test_the_end_waits_for_running_programs_and_the_second_signal_does_not(self):
        first, second = (self.client.enqueue("mail", payload) for payload in (b"1", b"2"))
        worker = self.work("echo begun; exec tail -f /dev/null", "--grace", "60s")
        worker.wait_for_output("begun")
        worker.signal(signal.SIGTERM)
        worker.wait_for_output("stopping")
        self.assertEqual((self.client.state(first), self.client.state(second)),
                         ("LEASED", "READY"))
        self.assertEqual(worker.terminate(), -signal.SIGTERM)

    def test_after_the_grace_programs_are_stopped_and_tasks_released(self):
        task = self.client.enqueue("mail", b"")
        worker = self.work("echo begun; exec tail -f /dev/null", "--grace", "100ms")
        worker.wait_for_output("begun")
        self.end(worker, "0 done, 0 retried, 0 failed, 1 released, 0 lost")
        view = self.client.task(task)
        self.assertEqual((state_name(view.state), view.attempt), ("READY", 0))

    def test_a_program_that_does_not_obey_is_killed(self):
        self.client.enqueue("mail", b"")
        worker = self.work('trap "" TERM; echo begun; while :; do :; done', "--grace", "0",
                           "--kill-after", "200ms")
        worker.wait_for_output("begun")
        self.end(worker, "0 done, 0 retried, 0 failed, 1 released, 0 lost")

    def test_programs_die_with_a_worker_that_is_killed(self):
        path = os.path.join(self.folder, "ended")
        self.client.enqueue("mail", path.encode())
        # One signal for each thread of the worker; its output is let go of, the test reads to the
        # end of that.
        worker = self.work('end() { trap "" TERM; exec >/dev/null; echo x > "$path"; exit; }; '
                           'read path; mkfifo "$path"; trap end TERM; echo begun; '
                           'while :; do :; done')
        worker.wait_for_output("begun")
        worker.kill()
        with open(path, encoding="ascii") as fifo:
            self.assertEqual(fifo.read(), "x\n")


if __name__ == "__main__":
    unittest.main()
