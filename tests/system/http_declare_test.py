"""Declared schedules and calls for several queues by HTTP, as JSON."""

import unittest

from support.http_case import HttpTest

ENQUEUE = "BrokerService/Enqueue"


class Declare(HttpTest):
    def setUp(self):
        super().setUp()
        for queue in ("a", "b"):
            self.client.create_queue(queue)

    def assert_put_refused(self, code, reason, field, body):
        answer = self.http.call(ENQUEUE, body)
        self.assertEqual((answer.code(), answer.reason()), (code, reason), answer.body)
        self.assertEqual(answer.headers["trailer-skiplane-field"], field)
        self.assertEqual(self.database.number("SELECT count(*) FROM skiplane.task"), 0)

    def outcomes(self, body):
        answer = self.http.call(ENQUEUE, body)
        self.assertEqual(answer.status, 200, answer.body)
        return [result["outcome"].removeprefix("ENQUEUE_OUTCOME_")
                for result in answer.json()["results"]]

    def test_a_declared_schedule_is_taken_without_an_extra_run(self):
        task = {"key": "daily", "keyPolicy": "KEY_POLICY_SCHEDULE", "period": "3600s"}
        self.assertEqual(self.outcomes({"queue": "a", "tasks": [task]}), ["CREATED"])
        self.client.ack(*self.client.lease("a"))
        self.assertEqual(self.outcomes({"queue": "a", "tasks": [task]}), ["EXISTING"])
        task["period"] = "7200s"
        self.assertEqual(self.outcomes({"queue": "a", "tasks": [task]}), ["REPLACED"])
        self.assertEqual(self.client.lease("a", wait=0), [])

    def test_tasks_of_one_call_go_to_several_queues(self):
        body = {"queue": "a", "tasks": [{}, {"queue": "b", "maxAttempts": 3}], "requestId": "r"}
        self.assertEqual(self.outcomes(body), ["CREATED"] * 2)
        first = self.http.call(ENQUEUE, body).json()
        [task] = self.client.lease("b")
        self.assertEqual((task.task_id, task.max_attempts), (first["results"][1]["taskId"], 3))
        self.assertEqual(self.client.queue("a").counts.ready_count, 1)

    def test_an_ack_makes_tasks_that_name_their_queue(self):
        self.client.enqueue("a")
        answer = self.http.call("BrokerService/Lease", {"queues": [{"name": "a"}], "maxTasks": 1,
                                                        "workerId": "w", "wait": "30s"})
        token = answer.json()["tasks"][0]["leaseToken"]
        acked = self.http.call("BrokerService/Ack", {"items": [
            {"leaseToken": token, "followUps": [{"queue": "b", "payload": "aGk="}]}]})
        [followed] = acked.json()["results"][0]["followUps"]
        [task] = self.client.lease("b")
        self.assertEqual((task.task_id, task.payload), (followed["taskId"], b"hi"))

    def test_bad_calls_name_the_field(self):
        for tasks, field in (
                ([{"queue": "a"}, {"queue": "no name!"}], "tasks[1].queue"),
                ([{"queue": "a"}, {}], "tasks[1].queue"),
                ([{"queue": f"q{number}"} for number in range(65)], "tasks[64].queue"),
                ([{"queue": "a", "maxAttempts": 0}], "tasks[0].max_attempts"),
                ([{"queue": "a", "key": "k", "version": "0"}], "tasks[0].version"),
                ([{"queue": "a", "key": "k", "keyPolicy": "KEY_POLICY_SCHEDULE"}],
                 "tasks[0].key_policy"),
                ([{"queue": "a", "key": "k", "keyPolicy": "KEY_POLICY_SCHEDULE", "cron": "@daily",
                   "version": "3"}], "tasks[0].version")):
            with self.subTest(field=field):
                self.assert_put_refused("invalid_argument", "INVALID_FIELD", field,
                                        {"tasks": tasks})
        self.assert_put_refused("not_found", "QUEUE_NOT_FOUND", "tasks[1].queue",
                                {"tasks": [{"queue": "a"}, {"queue": "missing"}]})
        self.client.pause("b", "ENQUEUE")
        self.assert_put_refused("failed_precondition", "QUEUE_PAUSED", "tasks[1].queue",
                                {"tasks": [{"queue": "a"}, {"queue": "b"}]})


if __name__ == "__main__":
    unittest.main()
