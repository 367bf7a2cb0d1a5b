"""What Enqueue tells of each task's state: a producer sees at once how the task of its key is."""

import time
import unittest

from support.by_http import ByHttp
from support.case import SystemTest
from support.client import DEADLINE_S, admin_pb2, broker_pb2, queue_pb2, seconds, state_name

QUEUE = "states"


class EnqueueState(SystemTest):
    def setUp(self):
        super().setUp()
        self.broker, self.client = self.start()
        self.client.create_queue(QUEUE)

    def put(self, request_id="", **fields):
        """Outcome and state."""
        [result] = self.client.enqueue_all(QUEUE, [self.client.new_task(**fields)], request_id)
        return (broker_pb2.EnqueueOutcome.Name(result.outcome).removeprefix("ENQUEUE_OUTCOME_"),
                state_name(result.state))

    def lease(self):
        [task] = self.client.lease(QUEUE)
        return task

    def test_of_a_new_task(self):
        for fields in ({}, {"key": "now"}, {"request_id": "now"},
                       {"schedule_time": {"seconds": 9}}):
            self.assertEqual(self.put(**fields), ("CREATED", "READY"), fields)
        tomorrow = {"seconds": int(time.time()) + 86400}
        for fields in ({"delay": seconds(60)}, {"key": "later", "delay": seconds(60)},
                       {"cron": "@yearly"}, {"schedule_time": tomorrow},
                       {"request_id": "later", "delay": seconds(60)}):
            self.assertEqual(self.put(**fields), ("CREATED", "SCHEDULED"), fields)

    def test_of_the_task_that_holds_the_key(self):
        self.put(key="k", delay=seconds(60))
        self.assertEqual(self.put(key="k"), ("EXISTING", "SCHEDULED"))
        self.database.run("UPDATE skiplane.task SET schedule_time = now() - interval '1 s'")
        self.assertEqual(self.put(key="k"), ("EXISTING", "READY"))
        self.put(key="l", priority=-1)
        task = self.lease()
        self.assertEqual(self.put(key="l"), ("EXISTING", "LEASED"))
        self.client.ack(task)
        self.assertEqual(self.put(key="l"), ("EXISTING", "SUCCEEDED"))

    def test_of_a_task_that_failed(self):
        self.put(key="k")
        self.client.nack(self.lease(), "FAIL")
        self.assertEqual(self.put(key="k"), ("EXISTING", "FAILED"))
        self.assertEqual(self.put(key="k", key_policy="KEY_POLICY_KEEP_UNFINISHED"),
                         ("RESTARTED", "READY"))
        self.assertEqual(self.put(key="k"), ("EXISTING", "READY"))

    def test_of_a_task_that_was_cancelled(self):
        self.put(key="waiting")
        self.put(key="running", priority=-1)
        running = self.lease()
        for key in ("waiting", "running"):
            task = self.client.admin.GetTask(admin_pb2.GetTaskRequest(queue=QUEUE, key=key),
                                             timeout=DEADLINE_S).task
            self.client.admin.CancelTask(admin_pb2.CancelTaskRequest(task_id=task.task_id),
                                         timeout=DEADLINE_S)
        self.client.nack(running)
        self.assertEqual(self.put(key="waiting"), ("EXISTING", "CANCELLED"))
        self.assertEqual(self.put(key="running"), ("EXISTING", "CANCELLED"))

    def test_where_no_history_is_kept(self):
        self.client.update_queue(QUEUE, "history", history=queue_pb2.HISTORY_POLICY_NONE)
        self.put(key="k")
        self.client.ack(self.lease())
        self.assertEqual(self.put(key="k"), ("EXISTING", "SUCCEEDED"))

    def test_of_a_retried_dead_letter(self):
        self.put(key="k")
        failed = self.lease()
        self.client.nack(failed, "FAIL")
        self.client.admin.RetryTask(admin_pb2.RetryTaskRequest(task_id=failed.task_id),
                                    timeout=DEADLINE_S)
        self.assertEqual(self.put(key="k"), ("EXISTING", "READY"))

    def test_of_a_task_that_took_newer_content(self):
        newer = {"key": "k", "key_policy": "KEY_POLICY_RERUN_IF_NEWER"}
        self.put(version=1, **newer)
        self.assertEqual(self.put(version=2, delay=seconds(60), **newer),
                         ("REPLACED", "SCHEDULED"))
        self.assertEqual(self.put(version=3, **newer), ("REPLACED", "READY"))
        self.lease()
        self.assertEqual(self.put(version=4, **newer), ("RERUN", "LEASED"))

    def test_of_a_follow_up(self):
        self.put(key="k", delay=seconds(60))
        self.client.enqueue(QUEUE, b"x")
        follow_ups = [self.client.new_task(queue=QUEUE, **fields)
                      for fields in ({}, {"delay": seconds(60)}, {"key": "k"})]
        [result] = self.client.ack_results(self.lease(), follow_ups=follow_ups)
        self.assertEqual([state_name(made.state) for made in result.follow_ups],
                         ["READY", "SCHEDULED", "SCHEDULED"])

    def test_a_repeat_says_the_same_though_the_task_went_on(self):
        tasks = [self.client.new_task(key="a"), self.client.new_task(delay=seconds(1)),
                 self.client.new_task()]
        first = self.client.enqueue_all(QUEUE, tasks, "once")
        self.assertEqual([state_name(result.state) for result in first],
                         ["READY", "SCHEDULED", "READY"])
        for _ in tasks:
            self.client.ack(self.lease())
        self.assertEqual(list(self.client.enqueue_all(QUEUE, tasks, "once")), list(first))


class EnqueueStateByHttp(ByHttp, EnqueueState):
    pass


if __name__ == "__main__":
    unittest.main()
