"""When a failed attempt runs again, by the database's clock."""

import datetime
import unittest

from support.case import SystemTest
from support.client import admin_pb2, queue_pb2, seconds, state_name, task_pb2

QUEUE = "retry"


class Retry(SystemTest):
    def setUp(self):
        super().setUp()
        self.broker, self.client = self.start()

    def fail_next(self, **fields):
        """Fails the next attempt; the result, and by how much the row says that it is put off."""
        self.database.make_due()
        [task] = self.client.lease(QUEUE)
        result = self.client.nack(task, **fields)
        rows = self.database.run(
            "SELECT extract(epoch FROM t.schedule_time - h.end_time)::numeric(12, 3),"
            " (extract(epoch FROM t.schedule_time) * 1e6)::bigint, t.state"
            " FROM skiplane.task t JOIN skiplane.history h ON h.task_id = t.id"
            " WHERE h.attempt = t.attempt")
        if not rows:
            return result, None
        [[delay, schedule_time, state]] = rows
        self.assertEqual(state, "1")
        self.assertEqual(result.schedule_time.ToMicroseconds(), int(schedule_time))
        return result, float(delay)

    def delays(self, count):
        return [self.fail_next()[1] for _ in range(count)]

    def test_the_delays_are_five_ten_and_fifteen_minutes(self):
        self.client.create_queue(QUEUE)
        self.client.enqueue(QUEUE)
        self.assertEqual(self.delays(3), [300, 600, 900])

    def test_a_task_is_not_leased_before_its_delay_ends(self):
        self.client.create_queue(QUEUE)
        self.client.enqueue(QUEUE)
        result, _ = self.fail_next()
        self.assertEqual(state_name(result.state), "SCHEDULED")
        self.assertEqual(self.client.lease(QUEUE, wait=0), [])
        # What is left is more than a busy machine can lose on the way to the question.
        self.database.run("UPDATE skiplane.task"
                          " SET schedule_time = schedule_time - interval '180 s'")
        self.assertEqual(self.client.lease(QUEUE, wait=0), [])
        self.database.run("UPDATE skiplane.task"
                          " SET schedule_time = schedule_time - interval '118 s'")
        [task] = self.client.lease(QUEUE)
        self.assertEqual(task.attempt, 2)
        self.assertEqual(
            self.database.value("SELECT lease_time >= schedule_time FROM skiplane.task"), "t")

    def test_each_policy_has_its_delays(self):
        policies = {
            "fixed": (dict(kind="RETRY_KIND_FIXED", base_delay=seconds(7)), [7, 7, 7]),
            "exponential": (dict(kind="RETRY_KIND_EXPONENTIAL", base_delay=seconds(2), factor=3),
                            [2, 6, 18]),
            "table": (dict(kind="RETRY_KIND_TABLE", delays=[seconds(4), seconds(1)]), [4, 1, 1]),
            "capped": (dict(base_delay=seconds(60), max_delay=seconds(90)), [60, 90, 90]),
        }
        self.client.create_queue(QUEUE)
        for name, (policy, delays) in policies.items():
            with self.subTest(name):
                self.update(queue_pb2.RetryPolicy(**policy))
                self.database.run("DELETE FROM skiplane.task; DELETE FROM skiplane.history")
                self.client.enqueue(QUEUE)
                self.assertEqual(self.delays(3), delays)

    def test_jitter_spreads_the_delays(self):
        self.client.create_queue(QUEUE, retry=queue_pb2.RetryPolicy(
            kind="RETRY_KIND_FIXED", base_delay=seconds(1000), jitter=0.1))
        self.client.enqueue(QUEUE, max_attempts=20)
        delays = self.delays(8)
        self.assertTrue(all(900 <= delay <= 1100 for delay in delays), delays)
        self.assertGreater(len(set(delays)), 1)

    def test_a_nack_may_name_its_own_delay(self):
        self.client.create_queue(QUEUE)
        self.client.enqueue(QUEUE)
        self.assertEqual(self.fail_next(retry_delay=seconds(42))[1], 42)

    def test_the_last_attempt_ends_the_task_with_its_error(self):
        self.client.create_queue(QUEUE)
        task_id = self.client.enqueue(QUEUE, b"poison", max_attempts=2)
        self.fail_next()
        error = task_pb2.TaskError(type="ValueError", text=b"line 1\n\xff\x00end", fingerprint="f")
        result, _ = self.fail_next(error=error)
        self.assertEqual(state_name(result.state), "FAILED")
        self.assertFalse(result.HasField("schedule_time"))
        task = self.client.task(task_id)
        self.assertEqual((state_name(task.state), task.attempt_count, task.last_error),
                         ("FAILED", 2, error))
        self.assertGreater(task.end_time.ToDatetime(datetime.timezone.utc).year, 2000)
        self.assertEqual(self.database.value(
            "SELECT convert_from(payload, 'UTF8') FROM skiplane.task_failed"), "poison")

    def test_a_release_is_neither_charged_nor_put_off(self):
        self.client.create_queue(QUEUE)
        self.client.enqueue(QUEUE, max_attempts=1)
        for _ in range(3):
            [task] = self.client.lease(QUEUE)
            self.assertEqual(task.attempt, 1)
            self.client.nack(task, "RELEASE")
        self.assert_nothing_leased()

    def update(self, policy):
        self.client.admin.UpdateQueue(admin_pb2.UpdateQueueRequest(
            name=QUEUE, settings=queue_pb2.QueueSettings(retry=policy),
            update_mask={"paths": ["retry"]}))


if __name__ == "__main__":
    unittest.main()
