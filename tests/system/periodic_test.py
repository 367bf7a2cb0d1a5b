"""Periodic tasks: their planned times, what they miss, what fails, and who holds them back."""

import datetime
import time
import unittest

from google.protobuf import timestamp_pb2
from support.case import SystemTest, slow
from support.client import queue_pb2, seconds, state_name

QUEUE = "periodic"


@slow
class Periodic(SystemTest):
    def setUp(self):
        super().setUp()
        self.broker, self.client = self.start()
        self.client.create_queue(QUEUE)

    def put(self, period=3600, payload=b"on time", **fields):
        return self.client.enqueue(QUEUE, payload, period=seconds(period), **fields)

    def take(self, **fields):
        [task] = self.client.lease(QUEUE, **fields)
        return task

    def assert_idle(self):
        self.assertEqual(self.client.lease(QUEUE, wait=0), [])

    def shift(self, seconds_ago):
        """As if the task's planned time had been that long ago."""
        self.database.run(f"UPDATE skiplane.task SET planned_time = now() - interval '1 s' *"
                          f" {seconds_ago}, schedule_time = now() - interval '1 s' * {seconds_ago}")

    def offset(self, before):
        """By how many periods (of an hour) the plan moved on from `before`, and the rest."""
        planned = self.database.value("SELECT extract(epoch FROM planned_time) * 1e6"
                                      " FROM skiplane.task")
        return divmod(round(float(planned)) - before.ToMicroseconds(), 3600 * 10**6)

    def test_an_ack_arms_it_for_the_next_planned_time(self):
        task_id = self.put()
        task = self.take()
        self.assertEqual(task.planned_time, task.schedule_time)
        [result] = self.client.ack_results(task)
        self.assertEqual(state_name(result.state), "SCHEDULED")
        self.assertEqual(result.schedule_time.ToMicroseconds() - task.planned_time.ToMicroseconds(),
                         3600 * 10**6)
        self.assert_idle()
        self.database.make_due()
        again = self.take()
        self.assertEqual((again.task_id, again.attempt, again.payload), (task_id, 1, b"on time"))

    def test_it_runs_by_itself_when_its_time_comes(self):
        self.put(period=1)
        planned = []
        for _ in range(3):
            task = self.take()
            planned.append(task.planned_time.ToMicroseconds())
            self.client.ack(task)
        steps = [after - before for before, after in zip(planned, planned[1:])]
        self.assertTrue(all(step % 10**6 == 0 and step > 0 for step in steps), steps)

    def test_missed_times_are_skipped_and_the_schedule_is_kept(self):
        self.put()
        self.shift(5 * 3600 + 60)
        task = self.take()
        self.client.ack(task)
        self.assertEqual(self.offset(task.planned_time), (6, 0))
        self.assert_idle()

    def test_the_lag_of_a_late_run_is_a_metric(self):
        self.put()
        self.assertEqual(self.lag(), (None, None))
        self.take()
        self.shift(1000)
        self.database.run("UPDATE skiplane.task SET state = 1, attempt = 0, session = NULL")
        self.take()
        count, lag = self.lag()
        self.assertEqual(count, 2)
        self.assertGreaterEqual(lag, 1000)

    def lag(self):
        page = self.broker.metrics()
        return tuple(page.get(f'skiplane_schedule_lag_seconds_{part}{{queue="{QUEUE}"}}')
                     for part in ("count", "sum"))

    def test_missed_times_are_run_one_by_one_if_that_is_asked_for(self):
        self.put(catch_up="CATCH_UP_RUN_ALL")
        self.shift(3 * 3600 + 60)
        first = self.take()
        planned = [first.planned_time.ToMicroseconds()]
        self.client.ack(first)
        for _ in range(3):
            task = self.take()
            planned.append(task.planned_time.ToMicroseconds())
            self.client.ack(task)
        self.assertEqual([time - planned[0] for time in planned],
                         [hours * 3600 * 10**6 for hours in range(4)])
        self.assert_idle()

    def test_it_never_overlaps_itself(self):
        self.put()
        running = self.take()
        self.database.run("UPDATE skiplane.task SET planned_time = planned_time - interval '1 day'")
        self.assert_idle()
        self.client.ack(running)
        self.assert_idle()

    def test_a_failure_is_retried_within_the_period(self):
        self.put(period=3600)
        task = self.take()
        result = self.client.nack(task, retry_delay=seconds(60))
        self.assertEqual(state_name(result.state), "SCHEDULED")
        self.database.make_due()
        again = self.take()
        self.assertEqual((again.attempt, again.planned_time), (2, task.planned_time))
        self.client.ack(again)
        self.assertEqual(self.offset(task.planned_time), (1, 0))

    def test_a_retry_that_would_come_after_the_next_time_waits_for_that(self):
        self.put(period=60)
        task = self.take()
        result = self.client.nack(task, retry_delay=seconds(61))
        self.assertEqual(result.schedule_time.ToMicroseconds() - task.planned_time.ToMicroseconds(),
                         60 * 10**6)
        self.database.make_due()
        self.assertEqual(self.take().attempt, 1)

    def test_a_late_run_is_retried_before_the_next_one_is_begun(self):
        self.put(catch_up="CATCH_UP_RUN_ALL")
        self.shift(3 * 3600 + 60)
        first = self.take(worker_id="dies", duration=1)
        again = self.take()
        self.assertEqual((again.planned_time, again.attempt), (first.planned_time, 2))
        self.client.nack(again, retry_delay=seconds(0))
        third = self.take()
        self.assertEqual((third.planned_time, third.attempt), (first.planned_time, 3))
        self.client.nack(third, retry_delay=seconds(3601))
        self.assertEqual(self.offset(first.planned_time), (1, 0))

    def test_the_last_failure_and_a_permanent_one_wait_for_the_next_time(self):
        self.put(max_attempts=1)
        for disposition in ("RETRY", "FAIL"):
            task = self.take()
            result = self.client.nack(task, disposition)
            self.assertEqual(state_name(result.state), "SCHEDULED")
            self.assertEqual(self.offset(task.planned_time), (1, 0))
            self.shift(1)
        self.assertEqual(self.database.number("SELECT count(*) FROM skiplane.task_failed"), 0)

    def test_a_dead_workers_run_is_repeated(self):
        self.put()
        dead = self.take(worker_id="dies", duration=1)
        again = self.take()
        self.assertEqual((again.attempt, again.planned_time), (2, dead.planned_time))

    def test_the_history_keeps_failures_only_unless_told_otherwise(self):
        self.put()
        self.client.ack(self.take())
        self.database.make_due()
        self.client.nack(self.take(), "FAIL")
        outcomes = "SELECT string_agg(outcome::text, ' ') FROM skiplane.history"
        self.assertEqual(self.database.value(outcomes), "3")
        self.client.update_queue(QUEUE, "periodic_history",
                                 periodic_history=queue_pb2.HISTORY_POLICY_ALL)
        self.database.make_due()
        self.client.ack(self.take())
        self.assertEqual(self.database.value(outcomes), "3 1")

    def test_a_cron_schedule_is_followed_in_its_zone(self):
        task_id = self.client.enqueue(QUEUE, cron="30 4 * * *", time_zone="Europe/Berlin")
        self.assertEqual(self.client.state(task_id), "SCHEDULED")
        local = ("SELECT to_char(schedule_time AT TIME ZONE 'Europe/Berlin', 'HH24:MI:SS')"
                 " FROM skiplane.task")
        self.assertEqual(self.database.value(local), "04:30:00")
        self.database.make_due()
        self.client.ack(self.take())
        self.assertEqual(self.database.value(local), "04:30:00")
        self.assertEqual(self.database.value(
            "SELECT schedule_time BETWEEN now() AND now() + interval '2 days'"
            " FROM skiplane.task"), "t")

    def test_a_start_time_begins_the_schedule_and_a_cron_time_comes_after_it(self):
        start = timestamp_pb2.Timestamp(seconds=int(time.time()) + 10 * 86400, nanos=5000)
        [result] = self.client.enqueue_all(QUEUE, [self.client.new_task(
            period=seconds(60), schedule_time=start)])
        self.assertEqual(self.client.task(result.task_id).schedule_time, start)
        [result] = self.client.enqueue_all(QUEUE, [self.client.new_task(
            cron="0 0 1 1 *", delay=seconds(400 * 86400))])
        year = self.client.task(result.task_id).schedule_time.ToDatetime()
        self.assertEqual((year.month, year.day, year.hour), (1, 1, 0))
        self.assertGreater(year, datetime.datetime.now() + datetime.timedelta(days=400))

    def test_newer_content_runs_at_once_and_keeps_the_planned_times(self):
        put = {"key": "k", "key_policy": "KEY_POLICY_RERUN_IF_NEWER"}
        self.put(version=1, **put)
        task = self.take()
        self.client.ack(task)
        self.assert_idle()
        self.put(version=2, payload=b"new", **put)
        again = self.take()
        self.assertEqual(again.payload, b"new")
        self.client.ack(again)
        self.assertEqual(self.offset(task.planned_time), (1, 0))
        self.assert_idle()

    def test_bad_schedules_name_the_field_and_make_nothing(self):
        bad = (({"period": seconds(0)}, "period"), ({"period": seconds(0.001)}, "period"),
               ({"period": seconds(-5)}, "period"), ({"cron": "60 * * * *"}, "cron"),
               ({"cron": "0 0 30 2 *"}, "cron"), ({"cron": "* * * * * * *"}, "cron"),
               ({"cron": "every day"}, "cron"), ({"cron": ""}, "cron"),
               ({"cron": "* * * * *", "time_zone": "Mars/Olympus"}, "time_zone"),
               ({"cron": "* * * * *", "time_zone": "UTC'; DROP TABLE skiplane.task"}, "time_zone"),
               ({"period": seconds(5), "time_zone": "UTC"}, "time_zone"),
               ({"catch_up": "CATCH_UP_RUN_ALL"}, "catch_up"))
        for fields, field in bad:
            with self.subTest(fields=fields):
                error = self.assert_refused("INVALID_ARGUMENT", "INVALID_FIELD",
                                            self.client.enqueue, QUEUE, **fields)
                self.assertIn(f"tasks[0].{field}", error.details())
        self.assertEqual(self.database.number("SELECT count(*) FROM skiplane.task"), 0)


if __name__ == "__main__":
    unittest.main()
