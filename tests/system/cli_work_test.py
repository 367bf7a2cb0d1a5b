"""A worker of any program."""

import unittest

from support.case import slow
from support.client import admin_pb2, seconds
from support.work import WorkTest


@slow
class Work(WorkTest):
    def test_payload_and_environment_reach_the_program(self):
        self.client.enqueue("mail", b"hello", key="k", headers={"Trace-Id": "7"})
        worker = self.work('cat; echo " $SKIPLANE_QUEUE $SKIPLANE_KEY $SKIPLANE_ATTEMPT '
                           '$SKIPLANE_HEADER_TRACE_ID $SKIPLANE_TASK_ID"')
        worker.wait_for_output("hello mail k 1 7 ")
        self.end(worker, "1 done, 0 retried, 0 failed, 0 released, 0 cancelled, 0 lost")
        self.assertEqual(self.client.queue("mail").counts.succeeded_count, 1)

    def handle(self):
        [worker] = self.client.admin.ListWorkers(admin_pb2.ListWorkersRequest(),
                                                 timeout=60).workers
        self.assertRegex(worker.client_version, "^skiplane-cpp/")
        return worker.worker_handle

    def test_an_operator_has_it_wait_go_on_and_stop(self):
        worker = self.work("cat; echo", "--lease-duration", "3s")
        self.client.enqueue("mail", b"first")
        worker.wait_for_output("first")
        self.run_cli("workers", "quiet", self.handle())
        worker.wait_for_output("an operator asks this worker to take no more tasks: waiting")
        self.client.enqueue("mail", b"second")
        self.run_cli("workers", "run", self.handle())
        worker.wait_for_output("working again, as an operator asks")
        worker.wait_for_output("second")
        self.run_cli("workers", "stop", self.handle())
        self.assertEqual(worker.wait(), 0, worker.output)
        self.assertIn("skiplane: stopping: an operator asks this worker to stop\n", worker.output)
        self.assertIn("skiplane: 2 done, ", worker.output)

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

    def test_one_hanging_program_does_not_keep_the_tasks_behind_it(self):
        self.client.update_queue("mail", "max_run_duration", max_run_duration=seconds(6))
        hanging, fifo = self.put_hanging(max_attempts=1)
        for _ in range(20):
            self.client.enqueue("mail", b"good")
        worker = self.work(self.HANG, "--lease-duration", "6s")
        self.assert_works(fifo)
        self.assert_nobody_works(fifo)
        self.assert_succeeded(20)
        self.assertEqual(self.client.state(hanging), "FAILED")
        self.assertEqual(self.error_of(hanging)[0], "HANGED")
        self.end(worker, "20 done, 0 retried, 0 failed, 0 released, 0 cancelled, 1 lost")

    def test_a_program_whose_task_is_cancelled_ends_and_the_next_has_its_turn(self):
        hanging, fifo = self.put_hanging()
        worker = self.work(self.HANG, "--lease-duration", "3s")
        self.assert_works(fifo)
        self.client.admin.CancelTask(admin_pb2.CancelTaskRequest(task_id=hanging), timeout=60)
        self.assert_nobody_works(fifo)
        self.client.enqueue("mail", b"good")
        self.assert_succeeded(1)
        self.assertEqual(self.client.state(hanging), "CANCELLED")
        self.end(worker, "1 done, 0 retried, 0 failed, 0 released, 1 cancelled, 0 lost")

    def test_a_program_runs_no_longer_than_its_timeout(self):
        hanging, fifo = self.put_hanging()
        worker = self.work(self.HANG, "--timeout", "5s")
        self.assert_works(fifo)
        self.assert_nobody_works(fifo)
        self.client.enqueue("mail", b"good")
        self.assert_succeeded(1)
        self.assertEqual(self.client.state(hanging), "SCHEDULED")
        self.assertEqual(self.error_of(hanging),
                         ("timeout", "it ran longer than --timeout 5s and was stopped\n"))
        self.end(worker, "1 done, 1 retried, 0 failed, 0 released, 0 cancelled, 0 lost")

    def test_what_the_broker_could_not_be_told_of_is_unknown(self):
        _, fifo = self.put_hanging()
        worker = self.work(self.HANG, "--grace", "0", "--lease-duration", "10m")
        self.assert_works(fifo)
        self.broker.kill()
        self.end(worker, "0 done, 0 retried, 0 failed, 0 released, 0 cancelled, 0 lost, 1 unknown")
        self.assert_nobody_works(fifo)

    def test_a_worker_that_ended_leaves_no_session(self):
        self.client.enqueue("mail", b"")
        worker = self.work("true", "--lease-duration", "10m")
        self.assert_succeeded(1)
        self.end(worker, "1 done, 0 retried, 0 failed, 0 released, 0 cancelled, 0 lost")
        self.assertEqual(
            self.database.value("SELECT count(*) FROM skiplane.worker_session WHERE state = 1"),
            "0")


if __name__ == "__main__":
    unittest.main()
