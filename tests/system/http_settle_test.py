"""Settle by HTTP and JSON: the same answers as by gRPC."""

import unittest

from support.http_case import HttpTest

QUEUE = "mixed"


class SettleCalls(HttpTest):
    def setUp(self):
        super().setUp()
        self.client.create_queue(QUEUE)

    def leased(self, count):
        """The lease tokens of so many tasks, as JSON has them."""
        self.client.enqueue_all(QUEUE, [self.client.new_task()] * count)
        answer = self.http.call("BrokerService/Lease", {
            "queues": [{"name": QUEUE}], "maxTasks": count, "workerId": "w", "wait": "30s"})
        tokens = [task["leaseToken"] for task in answer.json()["tasks"]]
        self.assertEqual(len(tokens), count)
        return tokens

    def settle(self, *items, **fields):
        return self.http.call("BrokerService/Settle", {"items": items, **fields})

    def test_items_end_each_in_its_own_way_and_the_next_task_comes_with_them(self):
        done, failed, back, wrong = self.leased(4)
        next_id = self.client.enqueue(QUEUE, priority=-1)
        answer = self.settle(
            {"ack": {"leaseToken": done}},
            {"nack": {"leaseToken": failed, "disposition": "NACK_DISPOSITION_FAIL"}},
            {"release": {"leaseToken": back}},
            {"ack": {"leaseToken": wrong, "nextStage": "nowhere"}},
            leaseNext={"queues": [{"name": QUEUE}], "maxTasks": 1, "workerId": "w"})
        self.assertEqual(answer.status, 200, answer.body)
        results = answer.json()["results"]
        self.assertEqual([result["outcome"] for result in results],
                         ["SETTLE_OUTCOME_SETTLED"] * 3 + ["SETTLE_OUTCOME_REFUSED"])
        self.assertEqual([result["state"] for result in results[:3]],
                         ["TASK_STATE_SUCCEEDED", "TASK_STATE_FAILED", "TASK_STATE_READY"])
        self.assertEqual((results[3]["refusal"]["reason"], results[3]["refusal"]["field"]),
                         ("INVALID_FIELD", "ack.next_stage"))
        self.assertEqual([task["taskId"] for task in answer.json()["lease"]["tasks"]], [next_id])
        again = self.settle({"ack": {"leaseToken": done}}, {"release": {"leaseToken": back}})
        self.assertEqual([result["outcome"] for result in again.json()["results"]],
                         ["SETTLE_OUTCOME_ALREADY_SETTLED"] * 2)

    def assert_refused(self, answer, reason, field):
        self.assertEqual((answer.status, answer.reason()), (400, reason), answer.body)
        self.assertEqual(answer.headers["trailer-skiplane-field"], field)

    def test_bad_calls_are_refused_on_their_field(self):
        [token] = self.leased(1)
        good = {"ack": {"leaseToken": token}}
        self.assert_refused(self.settle(), "INVALID_FIELD", "items")
        self.assert_refused(self.settle(good, {}), "INVALID_FIELD", "items[1].settlement")
        for release in ({"leaseToken": "bm8="}, {}):
            self.assert_refused(self.settle(good, {"release": release}),
                                "INVALID_LEASE_TOKEN", "items[1].release.lease_token")
        self.assert_refused(self.settle(good, leaseNext={"queues": [{"name": QUEUE}]}),
                            "INVALID_FIELD", "lease_next.max_tasks")
        answer = self.settle({"ack": {"leaseToken": token}, "release": {"leaseToken": token}})
        self.assertEqual((answer.status, answer.reason()), (400, "INVALID_FIELD"))
        self.assertEqual(self.database.number(
            "SELECT count(*) FROM skiplane.task WHERE state = 2"), 1)


if __name__ == "__main__":
    unittest.main()
