"""How a worker of any program ends when it is told to, and that no program outlives it."""

import os
import signal
import unittest

from support.case import slow
from support.client import admin_pb2, state_name
from support.cli import program
from support.process import Process
from support.work import WorkTest

HANDED_BACK = "skiplane: 0 done, 0 retried, 0 failed, 1 released, 0 cancelled, 0 lost\n"


@slow
class Signals(WorkTest):
    def signal_again(self, worker, number):
        """One that counts: more than a second after the one before, of which there is output."""
        self.assertTrue(worker.runs_for(1.1), worker.output)
        worker.signal(number)

    def assert_handed_back(self, task_id):
        view = self.client.task(task_id)
        self.assertEqual((state_name(view.state), view.attempt_count), ("READY", 0))

    def test_the_end_waits_for_running_programs(self):
        first, second = (self.client.enqueue("mail", payload) for payload in (b"1", b"2"))
        path = os.path.join(self.folder, "go on")
        os.mkfifo(path)
        worker = self.work(f'echo begun; read line < "{path}"', "--grace", "60s")
        worker.wait_for_output("begun")
        worker.signal(signal.SIGTERM)
        worker.wait_for_output("stopping")
        self.assertEqual((self.client.state(first), self.client.state(second)),
                         ("LEASED", "READY"))
        with open(path, "w", encoding="ascii") as fifo:
            fifo.write("x\n")
        self.assertEqual(worker.wait(), 0)
        self.assertEqual(self.client.state(first), "SUCCEEDED")

    def test_after_the_grace_programs_are_stopped_and_tasks_released(self):
        task = self.client.enqueue("mail", b"")
        worker = self.work("echo begun; exec tail -f /dev/null", "--grace", "100ms")
        worker.wait_for_output("begun")
        self.end(worker, "0 done, 0 retried, 0 failed, 1 released, 0 cancelled, 0 lost")
        view = self.client.task(task)
        self.assertEqual((state_name(view.state), view.attempt_count), ("READY", 0))

    def test_a_program_that_does_not_obey_is_killed(self):
        self.client.enqueue("mail", b"")
        worker = self.work('trap "" TERM; echo begun; while :; do :; done', "--grace", "0",
                           "--kill-after", "200ms")
        worker.wait_for_output("begun")
        self.end(worker, "0 done, 0 retried, 0 failed, 1 released, 0 cancelled, 0 lost")

    def test_when_the_terminal_goes_the_worker_drains_and_leaves_nobody(self):
        task, fifo = self.put_hanging()
        worker = self.work(self.HANG, "--grace", "0")
        self.assert_works(fifo)
        worker.signal(signal.SIGHUP)
        self.assertEqual(worker.wait(), 0, worker.output)
        self.assertIn(HANDED_BACK, worker.output)
        self.assert_nobody_works(fifo)
        self.assert_handed_back(task)

    def test_under_nohup_it_does_not_hear_that_the_terminal_goes(self):
        worker = Process(["nohup", program(), "work", "mail", "--", "true"], env=self.environment)
        self.addCleanup(worker.end)
        worker.wait_for_output("skiplane: working")
        worker.signal(signal.SIGHUP)
        self.client.enqueue("mail", b"")
        self.assert_succeeded(1)
        self.end(worker, "1 done, 0 retried, 0 failed, 0 released, 0 cancelled, 0 lost")

    def test_under_timeout_which_signals_twice_it_ends_as_if_told_once(self):
        task, fifo = self.put_hanging()
        worker = Process(["timeout", "-s", "TERM", "1h", program(), "work", "mail", "--grace", "1s",
                          "--", "sh", "-c", self.HANG], env=self.environment)
        self.addCleanup(worker.end)
        self.assert_works(fifo)
        worker.signal(signal.SIGTERM)  # as its time does
        worker.wait()
        self.assertIn(HANDED_BACK, worker.output)
        self.assert_nobody_works(fifo)
        self.assert_handed_back(task)

    def test_a_repeat_at_once_is_the_same_signal(self):
        task, fifo = self.put_hanging()
        worker = self.work(self.HANG, "--grace", "1s")
        self.assert_works(fifo)
        worker.signal(signal.SIGTERM)
        worker.wait_for_output("stopping\n")
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            worker.signal(number)
        self.assertEqual(worker.wait(), 0, worker.output)
        self.assertIn(HANDED_BACK, worker.output)
        self.assert_nobody_works(fifo)
        self.assert_handed_back(task)

    def test_one_who_is_told_again_stops_its_programs_and_their_children_at_once(self):
        for first, again in ((signal.SIGTERM, signal.SIGTERM), (signal.SIGINT, signal.SIGHUP)):
            with self.subTest(again=again):
                task, fifo = self.put_hanging()
                worker = self.work(self.HANG, "--grace", "1h")
                self.assert_works(fifo)
                worker.signal(first)
                worker.wait_for_output("stopping\n")
                self.signal_again(worker, again)
                worker.wait_for_output("stopping the programs\n")
                self.assertEqual(worker.wait(), 0, worker.output)
                self.assertIn(HANDED_BACK, worker.output)
                self.assert_nobody_works(fifo)
                self.assert_handed_back(task)
                self.client.admin.CancelTask(admin_pb2.CancelTaskRequest(task_id=task),
                                             timeout=60)

    def test_one_who_is_told_thrice_ends_at_once_and_its_programs_are_told_again(self):
        _, fifo = self.put_hanging(max_attempts=1)
        worker = self.work('read path; exec 9>"$path"; echo begun >&9; told=0; '
                           'trap \'[ $told = 1 ] && exit; told=1\' TERM; '
                           'while :; do sleep 301 & wait $!; done', "--kill-after", "1h")
        self.assert_works(fifo)
        worker.signal(signal.SIGTERM)
        worker.wait_for_output("stopping\n")
        self.signal_again(worker, signal.SIGTERM)
        worker.wait_for_output("stopping the programs\n")
        self.signal_again(worker, signal.SIGTERM)
        self.assertEqual(worker.wait(), -signal.SIGTERM)
        self.assert_nobody_works(fifo)

    def test_programs_and_their_children_die_with_a_worker_that_is_killed(self):
        _, fifo = self.put_hanging(max_attempts=1)
        worker = self.work(self.HANG, "--kill-after", "1s")
        self.assert_works(fifo)
        worker.kill()
        self.assert_nobody_works(fifo)

    def test_they_are_asked_to_end_when_it_is_killed(self):
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
