"""Resuming, worker handles and asked-for cancels in JSON."""

import base64
import unittest

from support.http_case import HttpTest

QUEUE = "resumed"
PROGRESS = {"fraction": 0.4, "message": "page 40"}


class Resume(HttpTest):
    def setUp(self):
        super().setUp()
        self.client.create_queue(QUEUE)

    def call(self, method, body):
        answer = self.http.call(method, body)
        self.assertEqual(answer.status, 200, answer.body)
        return answer.json()

    def lease(self, worker_id="w"):
        [task] = self.call("BrokerService/Lease", {
            "queues": [{"name": QUEUE}], "maxTasks": 1, "workerId": worker_id, "wait": "60s",
            "workerName": "host:1", "leaseDuration": "600s"})["tasks"]
        return task

    def view(self, task_id):
        return self.call("AdminService/GetTask", {"taskId": task_id})["task"]

    def test_a_retry_goes_on_where_the_failed_attempt_was(self):
        task_id = self.client.enqueue(QUEUE)
        first = self.lease()
        self.assertFalse({"lastError", "lastProgress"} & set(first))
        self.call("BrokerService/Heartbeat", {"workerId": "w", "leases": [
            {"leaseToken": first["leaseToken"], "progress": PROGRESS}]})
        error = {"type": "IOError", "text": base64.b64encode(b"disk \xff").decode(),
                 "fingerprint": "disk"}
        self.call("BrokerService/Nack", {"items": [
            {"leaseToken": first["leaseToken"], "retryDelay": "0s", "error": error}]})
        second = self.lease()
        self.assertEqual((second["lastError"], second["lastProgress"]), (error, PROGRESS))
        view = self.view(task_id)
        self.assertEqual((view["lastError"], view["lastProgress"], view["attemptCount"]),
                         (error, PROGRESS, 2))

    def test_an_operator_sees_who_holds_a_task_and_that_it_is_to_stop(self):
        task_id = self.client.enqueue(QUEUE)
        self.lease("canary_worker")
        self.assertNotIn("cancelRequested", self.view(task_id))
        self.call("AdminService/CancelTask", {"taskId": task_id})
        view = self.view(task_id)
        self.assertIs(view["cancelRequested"], True)
        [worker] = self.call("AdminService/ListWorkers", {})["workers"]
        self.assertEqual((worker["name"], worker["workerHandle"]),
                         (view["workerName"], view["workerHandle"]))
        self.assertRegex(worker["workerHandle"], "^[0-9a-f]{16}$")
        for method, body in (("ListWorkers", {}), ("GetTask", {"taskId": task_id}),
                             ("ListTasks", {"filter": {"queue": QUEUE}, "view": "TASK_VIEW_FULL"}),
                             ("ListAuditRecords", {})):
            answer = self.http.call(f"AdminService/{method}", body)
            self.assertEqual(answer.status, 200, answer.body)
            self.assertNotIn(b"canary_worker", answer.body)


if __name__ == "__main__":
    unittest.main()
