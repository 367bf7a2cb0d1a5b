"""GetTask in every state."""

import unittest

from support.by_http import ByHttp
from support.case import SystemTest
from support.client import DEADLINE_S, admin_pb2, broker_pb2, seconds, state_name, task_pb2

QUEUE = "viewed"


class TaskView(SystemTest):
    def setUp(self):
        super().setUp()
        self.broker, self.client = self.start()
        self.client.create_queue(QUEUE)

    def enqueue(self, **fields):
        return self.client.enqueue(QUEUE, b"payload", **fields)

    def assert_view(self, task_id, state, attempt, **fields):
        task = self.client.task(task_id)
        self.assertEqual((task.task_id, task.queue, state_name(task.state), task.attempt_count),
                         (task_id, QUEUE, state, attempt))
        for name, value in fields.items():
            self.assertEqual(getattr(task, name), value, name)
        self.assertTrue(task.HasField("create_time"))
        self.assertEqual(task.HasField("lease_time"), state == "LEASED")
        self.assertEqual(task.HasField("end_time"), state in ("SUCCEEDED", "FAILED"))
        return task

    def test_ready(self):
        task_id = self.enqueue(key="k", priority=-3, max_attempts=4)
        task = self.assert_view(task_id, "READY", 0, key="k", priority=-3, max_attempts=4)
        self.assertFalse(task.HasField("last_error"))

    def test_scheduled(self):
        task = self.assert_view(self.enqueue(delay=seconds(3600)), "SCHEDULED", 0)
        ahead = task.schedule_time.ToMicroseconds() - task.create_time.ToMicroseconds()
        self.assertEqual(round(ahead / 1e6), 3600)

    def test_leased_with_its_worker_and_progress(self):
        task_id = self.enqueue()
        [task] = self.client.lease(QUEUE, worker_id="w", worker_name="host:1")
        self.assert_view(task_id, "LEASED", 1, worker_name="host:1")
        progress = task_pb2.TaskProgress(fraction=0.25, message="a quarter")
        self.client.broker.Heartbeat(broker_pb2.HeartbeatRequest(worker_id="w", leases=[
            broker_pb2.HeldLease(lease_token=task.lease_token, progress=progress)]),
                                     timeout=DEADLINE_S)
        self.assert_view(task_id, "LEASED", 1, worker_name="host:1", progress=progress)

    def test_two_workers_with_one_name_are_told_apart(self):
        self.enqueue()
        self.enqueue()
        tasks = [self.client.lease(QUEUE, worker_id=worker, worker_name="host:1")[0]
                 for worker in ("w", "x")]
        views = [self.assert_view(task.task_id, "LEASED", 1, worker_name="host:1")
                 for task in tasks]
        self.assertEqual(sorted(view.worker_handle for view in views),
                         [handle for (handle,) in self.database.run(
                             "SELECT worker_handle FROM skiplane.workers"
                             " ORDER BY worker_handle")])
        self.assertNotEqual(views[0].worker_handle, views[1].worker_handle)

    def test_to_be_cancelled_while_it_runs(self):
        task_id = self.enqueue()
        [task] = self.client.lease(QUEUE)
        self.assert_view(task_id, "LEASED", 1, cancel_requested=False)
        self.client.admin.CancelTask(admin_pb2.CancelTaskRequest(task_id=task_id),
                                     timeout=DEADLINE_S)
        self.assert_view(task_id, "LEASED", 1, cancel_requested=True)
        self.client.nack(task)
        self.assertEqual(self.client.state(task_id), "CANCELLED")
        self.assertFalse(self.client.task(task_id).cancel_requested)

    def test_waiting_for_its_retry_with_the_error(self):
        task_id = self.enqueue()
        error = task_pb2.TaskError(type="IOError", text=b"disk \xff", fingerprint="disk")
        self.client.nack(self.client.lease(QUEUE)[0], error=error)
        self.assert_view(task_id, "SCHEDULED", 1, last_error=error)
        self.client.nack(self.next_attempt(), retry_delay=seconds(0))
        task = self.assert_view(task_id, "READY", 2)
        self.assertNotEqual(task.last_error.text, error.text)  # that of the first attempt

    def next_attempt(self):
        self.database.make_due()
        return self.client.lease(QUEUE)[0]

    def test_succeeded_with_and_without_an_error_before(self):
        first, second = self.enqueue(key="k", max_attempts=3), self.enqueue(delay=seconds(3600))
        [task] = self.client.lease(QUEUE)
        self.client.nack(task, error=task_pb2.TaskError(type="IOError"), retry_delay=seconds(0))
        self.client.ack(self.client.lease(QUEUE)[0])
        self.client.ack(self.next_attempt())
        self.assert_view(first, "SUCCEEDED", 2, key="k", max_attempts=3)
        self.assert_view(second, "SUCCEEDED", 1)

    def test_failed_by_its_worker(self):
        task_id = self.enqueue(key="k", priority=9)
        error = task_pb2.TaskError(type="BadInput", text=b"no use", fingerprint="own")
        self.client.nack(self.client.lease(QUEUE, worker_name="host:2")[0], "FAIL", error=error)
        self.assert_view(task_id, "FAILED", 1, key="k", priority=9, last_error=error)

    def test_succeeded_without_history_is_unknown(self):
        self.client.create_queue("silent", history="HISTORY_POLICY_NONE")
        task_id = self.client.enqueue("silent", b"")
        self.client.ack(self.client.lease("silent")[0])
        self.assert_refused("NOT_FOUND", "TASK_NOT_FOUND", self.client.task, task_id)

    def test_an_id_that_was_never_given_is_unknown(self):
        task_id = self.enqueue()
        self.database.run("DELETE FROM skiplane.task")
        self.assert_refused("NOT_FOUND", "TASK_NOT_FOUND", self.client.task, task_id)


class TaskViewByHttp(ByHttp, TaskView):
    pass


if __name__ == "__main__":
    unittest.main()
