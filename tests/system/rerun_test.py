"""A task whose source changed runs again: keys, versions and their policies."""

import unittest

from support.case import SystemTest, slow
from support.client import broker_pb2, fields_of, queue_pb2, seconds

QUEUE = "documents"


@slow
class Rerun(SystemTest):
    def setUp(self):
        super().setUp()
        self.broker, self.client = self.start()
        self.client.create_queue(QUEUE)

    def put(self, payload, key="doc", policy="RERUN_IF_NEWER", **fields):
        """The outcome and the id."""
        task = broker_pb2.NewTask(payload=payload, key=key, key_policy=f"KEY_POLICY_{policy}",
                                  **fields)
        [result] = self.client.enqueue_all(QUEUE, [task])
        outcome = broker_pb2.EnqueueOutcome.Name(result.outcome)
        return outcome.removeprefix("ENQUEUE_OUTCOME_"), result.task_id

    def run_one(self):
        [task] = self.client.lease(QUEUE)
        self.assertEqual(self.client.ack(task), ["SETTLED"])
        return task

    def assert_idle(self):
        self.assertEqual(self.client.lease(QUEUE, wait=0), [])

    def test_a_waiting_task_takes_the_newer_content(self):
        outcome, first = self.put(b"one", version=1, priority=5)
        self.assertEqual(outcome, "CREATED")
        self.assertEqual(self.put(b"two", version=2), ("REPLACED", first))
        task = self.run_one()
        self.assertEqual((task.payload, task.version, task.priority, task.task_id),
                         (b"two", 2, 0, first))
        self.assert_idle()

    def test_a_run_with_newer_content_has_the_attempts_of_that(self):
        self.client.update_queue(QUEUE, "stages", stages=[
            queue_pb2.Stage(name=name, retry=queue_pb2.RetryPolicy(max_attempts=number))
            for name, number in (("fetch", 5), ("store", 6))])
        self.put(b"one", version=1, max_attempts=2)
        self.assertEqual(self.run_one().max_attempts, 2)
        [running] = self.client.lease(QUEUE)
        self.assertEqual(running.max_attempts, 6)
        self.put(b"two", version=2, max_attempts=3)
        self.client.ack(running)
        self.assertEqual([self.run_one().max_attempts for _ in range(2)], [3, 6])

    def test_an_older_or_equal_version_changes_nothing_and_says_so(self):
        _, first = self.put(b"two", version=2)
        self.assertEqual(self.put(b"two again", version=2), ("EXISTING", first))
        self.assertEqual(self.put(b"one", version=1), ("EXISTING", first))
        self.assertEqual(self.run_one().payload, b"two")
        self.assertEqual(self.put(b"one", version=1), ("EXISTING", first))
        self.assert_idle()

    def test_a_running_task_runs_once_more_after_its_ack(self):
        _, first = self.put(b"one", version=1)
        [running] = self.client.lease(QUEUE)
        self.assertEqual(self.put(b"two", version=2), ("RERUN", first))
        self.assertEqual(self.put(b"three", version=3), ("RERUN", first))
        self.assert_idle()
        result = self.client.ack_results(running)[0]
        self.assertEqual((result.outcome, result.state), (broker_pb2.SETTLE_OUTCOME_SETTLED, 2))
        again = self.run_one()
        self.assertEqual((again.payload, again.version, again.attempt), (b"three", 3, 1))
        self.assert_idle()

    def test_it_runs_again_at_once_when_the_old_content_failed(self):
        self.put(b"one", version=1)
        [running] = self.client.lease(QUEUE)
        self.put(b"two", version=2)
        self.client.nack(running, "FAIL")
        self.assertEqual(self.run_one().payload, b"two")

    def test_a_dead_workers_task_runs_with_the_new_content(self):
        self.put(b"one", version=1)
        self.client.lease(QUEUE, worker_id="dies", duration=1)
        self.put(b"two", version=2)
        self.assertEqual(self.run_one().payload, b"two")
        self.assert_idle()

    def test_a_finished_task_starts_again(self):
        _, first = self.put(b"one", version=1)
        self.run_one()
        self.assertEqual(self.put(b"two", version=2), ("RESTARTED", first))
        self.assertEqual(self.run_one().payload, b"two")
        self.assert_idle()

    def test_a_failed_task_starts_again_and_is_no_dead_letter_any_more(self):
        _, first = self.put(b"one", version=1)
        [task] = self.client.lease(QUEUE)
        self.client.nack(task, "FAIL")
        self.assertEqual(self.put(b"two", version=2), ("RESTARTED", first))
        self.assertEqual(self.database.number("SELECT count(*) FROM skiplane.task_failed"), 0)
        self.assertEqual(self.client.queue(QUEUE).counts.failed_count, 0)
        self.assertEqual(self.run_one().payload, b"two")

    def test_a_replaced_retry_starts_with_all_its_attempts(self):
        self.put(b"one", version=1)
        [task] = self.client.lease(QUEUE)
        self.client.nack(task)
        self.put(b"two", version=2)
        self.assertEqual(self.run_one().attempt, 1)

    def test_keep_lets_any_known_task_answer(self):
        _, first = self.put(b"one", policy="KEEP")
        self.assertEqual(self.put(b"two", policy="KEEP"), ("EXISTING", first))
        self.assertEqual(self.run_one().payload, b"one")
        self.assertEqual(self.put(b"two", policy="KEEP"), ("EXISTING", first))
        self.assert_idle()

    def test_keep_unfinished_starts_a_finished_task_again(self):
        _, first = self.put(b"one", policy="KEEP_UNFINISHED")
        self.assertEqual(self.put(b"two", policy="KEEP_UNFINISHED"), ("EXISTING", first))
        self.assertEqual(self.run_one().payload, b"one")
        self.assertEqual(self.put(b"two", policy="KEEP_UNFINISHED"), ("RESTARTED", first))
        self.assertEqual(self.run_one().payload, b"two")

    def test_replace_waiting_leaves_a_running_task_alone(self):
        _, first = self.put(b"one", policy="REPLACE_WAITING")
        self.assertEqual(self.put(b"two", policy="REPLACE_WAITING"), ("REPLACED", first))
        [running] = self.client.lease(QUEUE)
        self.assertEqual(running.payload, b"two")
        self.assertEqual(self.put(b"three", policy="REPLACE_WAITING"), ("EXISTING", first))
        self.client.ack(running)
        self.assert_idle()

    def test_the_last_of_two_replacements_in_one_call_counts(self):
        tasks = [broker_pb2.NewTask(payload=payload, key="doc",
                                    key_policy="KEY_POLICY_REPLACE_WAITING")
                 for payload in (b"one", b"two")]
        self.client.enqueue_all(QUEUE, tasks)
        self.assertEqual(self.run_one().payload, b"two")
        self.assert_idle()

    def test_reject_refuses_the_whole_call(self):
        self.put(b"one", policy="REJECT")
        tasks = [broker_pb2.NewTask(payload=b"other"),
                 broker_pb2.NewTask(payload=b"two", key="doc", key_policy="KEY_POLICY_REJECT")]
        error = self.assert_refused("ALREADY_EXISTS", "KEY_EXISTS", self.client.enqueue_all, QUEUE,
                                    tasks)
        self.assertIn("tasks[1].key", error.details())
        self.assertEqual(fields_of(error), ["tasks[1].key"])
        twice = [self.client.new_task(key="a")] + 2 * [
            broker_pb2.NewTask(key="new", key_policy="KEY_POLICY_REJECT")]
        error = self.assert_refused("ALREADY_EXISTS", "KEY_EXISTS", self.client.enqueue_all, QUEUE,
                                    twice)
        self.assertEqual(fields_of(error), ["tasks[2].key"])
        self.assertEqual(self.run_one().payload, b"one")
        self.assert_idle()

    def test_newer_content_may_put_the_run_off(self):
        self.put(b"one", version=1)
        self.put(b"two", version=2, delay=seconds(3600))
        self.assert_idle()
        self.assertEqual(self.client.queue(QUEUE).counts.scheduled_count, 1)

    def test_of_many_producers_at_once_the_newest_wins(self):
        def request(version):
            task = broker_pb2.NewTask(payload=b"%d" % version, key="doc", version=version,
                                      key_policy="KEY_POLICY_RERUN_IF_NEWER")
            return broker_pb2.EnqueueRequest(queue=QUEUE, tasks=[task])
        calls = [self.client.broker.Enqueue.future(request(version), timeout=60)
                 for version in range(1, 101)]
        for call in calls:
            call.result()
        seen = []
        while tasks := self.client.lease(QUEUE, wait=0):
            seen.append(int(tasks[0].payload))
            self.client.ack(tasks[0])
        self.assertEqual(seen[-1], 100)

    def test_bad_calls_name_the_field(self):
        for fields, field in (({"version": 3, "key": ""}, "tasks[0].version"),
                              ({"version": -1}, "tasks[0].version"),
                              ({"version": 0}, "tasks[0].version"),
                              ({"policy": "REJECT", "key": ""}, "tasks[0].key_policy"),
                              ({"policy": "RERUN_IF_NEWER"}, "tasks[0].version")):
            with self.subTest(fields=fields):
                fields = {"policy": "UNSPECIFIED", **fields}
                error = self.assert_refused("INVALID_ARGUMENT", "INVALID_FIELD", self.put, b"x",
                                            **fields)
                self.assertIn(field, error.details())
        self.assert_idle()


if __name__ == "__main__":
    unittest.main()
