"""An attempt after others gets the last error and the last progress of those before it."""

import unittest

from support.by_http import ByHttp
from support.case import SystemTest
from support.client import (DEADLINE_S, admin_pb2, broker_pb2, queue_pb2, seconds, state_name,
                            task_pb2)
from support.packs import ROWS

QUEUE = "resumed"
WORKER = "worker"
ERROR = task_pb2.TaskError(type="IOError", text=b"disk \xff", fingerprint="disk")
PROGRESS = task_pb2.TaskProgress(fraction=0.4, message="page 40")


class ResumeTest(SystemTest):
    def setUp(self):
        super().setUp()
        self.broker, self.client = self.start()
        self.client.create_queue(QUEUE)

    def take(self, **fields):
        return self.client.lease(QUEUE, **{"worker_id": WORKER, "duration": 600, **fields})[0]

    def take_and_report(self, progress=PROGRESS):
        task = self.take()
        self.report(progress, task)
        return task

    def report(self, progress, *tasks, end=False):
        leases = [broker_pb2.HeldLease(lease_token=task.lease_token, progress=progress)
                  for task in tasks]
        return self.client.broker.Heartbeat(broker_pb2.HeartbeatRequest(
            worker_id=WORKER, leases=leases, end_session=end), timeout=DEADLINE_S)

    def retry(self, task, **fields):
        return self.client.nack(task, retry_delay=seconds(0), **fields)

    def assert_resumes(self, task, error_type, progress=PROGRESS):
        self.assertEqual((task.last_error.type, task.last_progress), (error_type, progress))

    def assert_begins_anew(self, task):
        self.assertEqual((task.HasField("last_error"), task.HasField("last_progress")),
                         (False, False), task)


class Attempts(ResumeTest):
    def test_a_retry_goes_on_where_the_failed_attempt_was(self):
        task_id = self.client.enqueue(QUEUE)
        first = self.take()
        self.assert_begins_anew(first)
        self.report(task_pb2.TaskProgress(fraction=0.1), first)
        self.report(PROGRESS, first)
        self.retry(first, error=ERROR)
        second = self.take()
        self.assertEqual((second.last_error, second.last_progress), (ERROR, PROGRESS))
        view = self.client.task(task_id)
        self.assertEqual((view.last_error, view.last_progress), (ERROR, PROGRESS))
        self.assertFalse(view.HasField("progress"), "this attempt reported nothing yet")

    def test_progress_outlives_attempts_that_report_none(self):
        self.client.enqueue(QUEUE)
        self.retry(self.take_and_report(), error=ERROR)
        self.retry(self.take(), error=task_pb2.TaskError(type="OtherError"))
        third = self.take()
        self.assert_resumes(third, "OtherError")
        later = task_pb2.TaskProgress(fraction=0.7)
        self.report(later, third)
        self.retry(third, error=ERROR)
        self.assert_resumes(self.take(), "IOError", later)

    def test_a_failed_attempt_without_progress_leaves_its_error_only(self):
        self.client.enqueue(QUEUE)
        self.retry(self.take(), error=ERROR)
        task = self.take()
        self.assertEqual(task.last_error, ERROR)
        self.assertFalse(task.HasField("last_progress"))

    def test_a_killed_workers_progress_is_the_next_ones(self):
        self.client.enqueue(QUEUE)
        worker = self.start_worker(self.broker, QUEUE, duration=600, heartbeat=0.1, fraction=0.4)
        self.database.eventually("SELECT count(*) > 0 FROM skiplane.worker_session"
                                 " WHERE progress::text ~ '0.4'")
        worker.kill()
        self.database.expire_sessions()
        self.assert_resumes(self.take(), "LEASE_LOST", task_pb2.TaskProgress(fraction=0.4))

    def test_a_silent_workers_progress_is_the_next_ones(self):
        self.client.enqueue(QUEUE)
        self.take_and_report()
        self.database.expire_sessions()
        self.assert_resumes(self.take(worker_id="other"), "LEASE_LOST")

    def test_a_released_attempt_leaves_its_progress_uncharged(self):
        self.client.enqueue(QUEUE)
        self.client.nack(self.take_and_report(), "RELEASE")
        task = self.take()
        self.assertEqual((task.attempt, task.last_progress), (1, PROGRESS))
        self.assertFalse(task.HasField("last_error"))
        self.retry(task, error=ERROR)
        self.client.nack(self.take(), "RELEASE")
        self.assert_resumes(self.take(), "IOError")

    def test_the_end_of_a_session_leaves_the_progress_of_all_its_tasks(self):
        self.client.enqueue_all(QUEUE, [self.client.new_task()] * 3)
        tasks = self.client.lease(QUEUE, worker_id=WORKER, max_tasks=3)
        self.report(PROGRESS, *tasks)
        self.report(None, end=True)
        tasks = [self.take(worker_id="other") for _ in range(3)]
        self.assertEqual([(task.attempt, task.last_progress) for task in tasks],
                         [(1, PROGRESS)] * 3)

    def test_a_hanged_attempt_leaves_its_progress(self):
        self.client.enqueue(QUEUE)
        self.take_and_report()
        self.client.update_queue(QUEUE, "max_run_duration", max_run_duration=seconds(1))
        self.assert_resumes(self.take(), "HANGED")

    def test_threads_that_name_their_leases_alone_keep_each_others_progress(self):
        self.client.enqueue_all(QUEUE, [self.client.new_task()] * 2)
        tasks = self.client.lease(QUEUE, worker_id=WORKER, max_tasks=2)
        for number, task in enumerate(tasks):
            self.report(task_pb2.TaskProgress(message=f"thread {number}"), task)
        for task in tasks:
            self.retry(task)
        again = {task.task_id: task for task in self.client.lease(QUEUE, max_tasks=2)}
        self.assertEqual([again[task.task_id].last_progress.message for task in tasks],
                         ["thread 0", "thread 1"])

    def test_a_lease_that_is_repeated_brings_them_again(self):
        self.client.enqueue(QUEUE)
        self.retry(self.take_and_report(), error=ERROR)
        first, again = (self.take(request_id="once") for _ in range(2))
        self.assertEqual((again.task_id, again.attempt), (first.task_id, first.attempt))
        self.assertEqual((again.last_error, again.last_progress), (ERROR, PROGRESS))

    def test_errors_and_progress_count_in_the_bytes_of_a_lease(self):
        self.client.update_queue(QUEUE, "packing", **ROWS)  # no packed task ran before
        self.client.enqueue_all(QUEUE, [self.client.new_task()] * 1000)
        self.database.run(
            "UPDATE skiplane.task SET attempt = 1, error_type = 'E',"
            " error_text = convert_to(repeat('x', 65536), 'UTF8'),"
            """ last_progress = '{"fraction": 0.5, "message": "half"}'""")
        tasks = self.client.lease(QUEUE, max_tasks=10, max_bytes=10000)
        self.assertEqual(len(tasks), 2)
        for task in tasks:
            self.assertEqual((len(task.last_error.text), task.last_progress.message),
                             (4096, "half"))
        # A caller that receives 4 MiB, as this one, gets as many as fit.
        tasks = self.client.lease(QUEUE, max_tasks=1000)
        self.assertTrue(700 < len(tasks) < 800, len(tasks))


class Runs(ResumeTest):
    def test_a_new_stage_begins_anew_and_so_does_its_retry(self):
        self.client.create_queue("steps", stages=[queue_pb2.Stage(name=name) for name in "ab"])
        self.client.enqueue("steps")
        lease = {"worker_id": WORKER, "duration": 600}
        [task] = self.client.lease("steps", **lease)
        self.report(PROGRESS, task)
        self.retry(task, error=ERROR)
        [task] = self.client.lease("steps", **lease)
        self.assert_resumes(task, "IOError")
        self.report(PROGRESS, task)
        self.client.ack(task)
        [task] = self.client.lease("steps", **lease)
        self.assertEqual(task.stage, "b")
        self.assert_begins_anew(task)
        self.retry(task, error=ERROR)
        [task] = self.client.lease("steps", **lease)
        self.assertEqual(task.last_error, ERROR)
        self.assertFalse(task.HasField("last_progress"), "it is that of the stage before")

    def next_run(self, task_id):
        self.assertEqual(self.client.state(task_id), "SCHEDULED")
        self.database.make_due()
        return self.take()

    def test_a_periodic_tasks_next_run_begins_anew(self):
        task_id = self.client.enqueue(QUEUE, period=seconds(3600))
        self.retry(self.take_and_report(), error=ERROR)
        task = self.take()
        self.assert_resumes(task, "IOError")
        self.client.ack(task)
        task = self.next_run(task_id)
        self.assert_begins_anew(task)
        self.report(PROGRESS, task)
        self.client.nack(task, "FAIL", error=ERROR)
        view = self.client.task(task_id)
        self.assertEqual((view.last_error.type, view.HasField("last_progress")),
                         ("IOError", False))
        task = self.next_run(task_id)
        self.assert_begins_anew(task)
        self.client.nack(task, "RELEASE")
        self.assert_begins_anew(self.take())

    def test_a_failed_task_that_is_started_again_has_both(self):
        task_id = self.client.enqueue(QUEUE, max_attempts=1)
        self.client.nack(self.take_and_report(), error=ERROR)
        view = self.client.task(task_id)
        self.assertEqual((state_name(view.state), view.last_error, view.last_progress),
                         ("FAILED", ERROR, PROGRESS))
        self.client.admin.RetryTask(admin_pb2.RetryTaskRequest(task_id=task_id),
                                    timeout=DEADLINE_S)
        view = self.client.task(task_id)
        task = self.take()
        for one in (view, task):
            self.assertEqual((one.last_error.type, one.last_error.text, one.last_progress),
                             (ERROR.type, ERROR.text, PROGRESS))
            self.assertEqual(one.last_error.fingerprint, "", "no error group counts it")
        self.assertEqual(task.attempt, 1)
        self.client.ack(task)

    def test_newer_content_begins_anew(self):
        self.client.enqueue(QUEUE, key="k", version=1)
        self.client.nack(self.take_and_report(), error=ERROR, retry_delay=seconds(3600))
        self.client.enqueue(QUEUE, key="k", version=2, key_policy="KEY_POLICY_REPLACE_WAITING")
        task = self.take()
        self.assert_begins_anew(task)
        self.report(PROGRESS, task)
        self.client.enqueue(QUEUE, key="k", version=3, key_policy="KEY_POLICY_RERUN_IF_NEWER")
        self.retry(task, error=ERROR)
        task = self.take()
        self.assert_begins_anew(task)
        self.report(PROGRESS, task)
        self.client.nack(task, "FAIL", error=ERROR)
        self.client.enqueue(QUEUE, key="k", version=4, key_policy="KEY_POLICY_KEEP_UNFINISHED")
        self.assert_begins_anew(self.take())


class AttemptsByHttp(ByHttp, Attempts):
    pass


class RunsByHttp(ByHttp, Runs):
    pass


if __name__ == "__main__":
    unittest.main()
