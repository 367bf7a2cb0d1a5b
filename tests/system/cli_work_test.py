"""A worker of any program."""

import os
import select
import signal
import tempfile
import unittest

from support.cli import CliTest
from support.client import admin_pb2, seconds, state_name
from support.process import GENEROUS_S


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

    # Of a task whose payload is a path: its program and a child hang, and hold the fifo open.
    HANG = 'read path; case "$path" in /*) exec 9>"$path"; echo begun >&9; sleep 301; true;; esac'

    def put_hanging(self, **fields):
        """A task that hangs; its id and its fifo."""
        path = os.path.join(self.folder, f"fifo{len(os.listdir(self.folder))}")
        os.mkfifo(path)
        fifo = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, fifo)
        return self.client.enqueue("mail", path.encode() + b"\n", **fields), fifo

    def wait_for(self, fifo, event):
        poll = select.poll()
        poll.register(fifo, select.POLLIN)
        [(_, events)] = poll.poll(GENEROUS_S * 1000)
        self.assertTrue(events & event, events)

    def assert_works(self, fifo):
        self.wait_for(fifo, select.POLLIN)
        self.assertEqual(os.read(fifo, 100), b"begun\n")

    def assert_nobody_works(self, fifo):
        """Neither the program nor a child of it is left."""
        self.wait_for(fifo, select.POLLHUP)

    def assert_succeeded(self, count):
        self.database.eventually(
            "SELECT sum(succeeded) FROM (SELECT succeeded FROM skiplane.counter UNION ALL "
            "SELECT succeeded FROM skiplane.counter_delta) c", str(count))

    def test_one_hanging_program_does_not_keep_the_tasks_behind_it(self):
        self.client.update_queue("mail", "max_run_duration", max_run_duration=seconds(3))
        hanging, fifo = self.put_hanging(max_attempts=1)
        for _ in range(20):
            self.client.enqueue("mail", b"good")
        worker = self.work(self.HANG, "--lease-duration", "3s")
        self.assert_works(fifo)
        self.assert_nobody_works(fifo)
        self.assert_succeeded(20)
        self.assertEqual(self.client.state(hanging), "FAILED")
        self.assertEqual(self.error_of(hanging)[0], "HANGED")
        self.end(worker, "20 done, 0 retried, 0 failed, 0 released, 1 lost")

    def test_a_program_whose_task_is_cancelled_ends_and_the_next_has_its_turn(self):
        hanging, fifo = self.put_hanging()
        worker = self.work(self.HANG, "--lease-duration", "3s")
        self.assert_works(fifo)
        self.client.admin.CancelTask(admin_pb2.CancelTaskRequest(task_id=hanging), timeout=60)
        self.assert_nobody_works(fifo)
        self.client.enqueue("mail", b"good")
        self.assert_succeeded(1)
        self.assertEqual(self.client.state(hanging), "CANCELLED")
        worker.terminate()

    def test_a_program_runs_no_longer_than_its_timeout(self):
        hanging, fifo = self.put_hanging()
        worker = self.work(self.HANG, "--timeout", "2s")
        self.assert_works(fifo)
        self.assert_nobody_works(fifo)
        self.client.enqueue("mail", b"good")
        self.assert_succeeded(1)
        self.assertEqual(self.client.state(hanging), "SCHEDULED")
        self.assertEqual(self.error_of(hanging),
                         ("timeout", "it ran longer than --timeout 2s and was stopped\n"))
        self.end(worker, "1 done, 1 retried, 0 failed, 0 released, 0 lost")

    def test_programs_and_their_children_die_with_a_worker_that_is_told_twice_or_killed(self):
        for signals in ([signal.SIGTERM, signal.SIGTERM], [signal.SIGTERM, signal.SIGINT],
                        [signal.SIGHUP], [signal.SIGKILL]):
            with self.subTest(signals=signals):
                _, fifo = self.put_hanging(max_attempts=1)
                worker = self.work(self.HANG, "--kill-after", "1s")
                self.assert_works(fifo)
                worker.signal(signals[0])
                if len(signals) > 1:
                    worker.wait_for_output("stopping")
                    worker.signal(signals[1])
                self.assertEqual(worker.wait(), -signals[-1])
                self.assert_nobody_works(fifo)

    def test_a_worker_that_ended_leaves_no_session(self):
        self.client.enqueue("mail", b"")
        worker = self.work("true", "--lease-duration", "10m")
        self.assert_succeeded(1)
        self.end(worker, "1 done, 0 retried, 0 failed, 0 released, 0 lost")
        self.assertEqual(
            self.database.value("SELECT count(*) FROM skiplane.worker_session WHERE state = 1"),
            "0")

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
