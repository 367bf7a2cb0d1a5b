"""The wait for a task's end by HTTP: the long poll of a producer that wants the result."""

import base64
import unittest

from support.http import post
from support.http_case import HttpTest

QUEUE = "awaited"
AWAITING = "skiplane_awaiting_calls"
GET = "AdminService/GetTask"


class HttpAwait(HttpTest):
    def setUp(self):
        super().setUp()
        self.client.create_queue(QUEUE, keep_results=True)

    def wait_for_awaiting(self, count):
        self.wait_until(lambda: self.broker.metrics()[AWAITING] == count, f"{count} calls wait")

    def park(self, **fields):
        raw = self.raw()
        raw.send(post(GET, {"wait": "60s", "view": "TASK_VIEW_FULL", **fields}))
        self.wait_for_awaiting(1)
        return raw

    def put(self):
        answer = self.http.call("BrokerService/Enqueue",
                                {"queue": QUEUE, "tasks": [{"key": "k"}]}).json()
        [result] = answer["results"]
        return result

    def test_a_long_poll_brings_the_result(self):
        made = self.put()
        self.assertEqual(made["state"], "TASK_STATE_READY")
        raw = self.park(queue=QUEUE, key="k")
        [task] = self.client.lease(QUEUE)
        self.client.ack_results(task, result=b"42")
        answer = raw.read_answer()
        self.assertEqual(answer.status, 200)
        task = answer.json()["task"]
        self.assertEqual((task["taskId"], task["state"], base64.b64decode(task["result"])),
                         (made["taskId"], "TASK_STATE_SUCCEEDED", b"42"))
        self.assertEqual(self.put()["state"], "TASK_STATE_SUCCEEDED")

    def test_who_closes_meanwhile_leaves_nothing(self):
        self.put()
        self.park(queue=QUEUE, key="k").close()
        self.wait_for_awaiting(0)

    def test_the_answer_comes_before_the_deadline(self):
        task_id = self.put()["taskId"]
        raw = self.raw()
        raw.send(post(GET, {"taskId": task_id, "wait": "60s"}, "Connect-Timeout-Ms: 4000"))
        answer = raw.read_answer()
        self.assertEqual((answer.status, answer.json()["task"]["state"]),
                         (200, "TASK_STATE_READY"))

    def test_neither_id_nor_key_is_refused(self):
        answer = self.http.call(GET, {"wait": "1s"})
        self.assertEqual((answer.status, answer.reason()), (400, "INVALID_FIELD"))


if __name__ == "__main__":
    unittest.main()
