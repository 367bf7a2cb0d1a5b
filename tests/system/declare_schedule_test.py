"""Schedules that services declare at each start: what differs is taken, and nothing runs twice."""

import time
import unittest

from google.protobuf import timestamp_pb2
from support.case import slow
from support.client import DEADLINE_S, admin_pb2, queue_pb2, seconds, task_pb2
from support.by_http import ByHttp
from support.declare import HOUR, QUEUE, DeclareTest


@slow
class DeclareSchedule(DeclareTest):
    def test_the_first_declaration_makes_a_task_as_any_periodic_one(self):
        outcome, task_id = self.declare(priority=3, headers={"h": "v"})
        task = self.take()
        self.assertEqual((outcome, task.task_id, task.payload, task.priority, dict(task.headers)),
                         ("CREATED", task_id, b"one", 3, {"h": "v"}))
        later = timestamp_pb2.Timestamp(seconds=int(time.time()) + 10 * HOUR)
        _, task_id = self.declare(key="later", schedule_time=later)
        self.assertEqual(self.planned(task_id), later.ToMicroseconds())

    def test_the_same_declaration_changes_nothing(self):
        for fields in ({}, {"cron": "0 4 * * *"}, {"cron": "0 4 * * *", "time_zone": "Asia/Tokyo"},
                       {"catch_up": "CATCH_UP_RUN_ALL"}, {"headers": {"a": "1", "b": "2"}},
                       {"priority": 2, "max_attempts": 3, "content_type": "text/plain"}):
            with self.subTest(fields=fields):
                key = str(fields)
                outcome, task_id = self.declare(key=key, **fields)
                self.assertEqual(outcome, "CREATED")
                before = self.row(task_id)
                # The start of a declaration counts for the first one only.
                for start in ({}, {"delay": seconds(5 * HOUR)}):
                    self.assertEqual(self.declare(key=key, **fields, **start),
                                     ("EXISTING", task_id))
                self.assertEqual(self.row(task_id), before)
        self.assertEqual(self.declare(key="zone", cron="@daily")[0], "CREATED")
        self.assertEqual(self.declare(key="zone", cron="@daily", time_zone="UTC")[0], "EXISTING")

    def test_the_same_declaration_changes_nothing_in_any_stage_of_any_run(self):
        self.client.update_queue(QUEUE, "stages", stages=[
            queue_pb2.Stage(name=name, retry=queue_pb2.RetryPolicy(max_attempts=number))
            for name, number in (("fetch", 5), ("store", 6))])
        for fields, attempts in (({"max_attempts": 3}, [3, 6]), ({}, [5, 6]),
                                 ({"stage": "store", "max_attempts": 4}, [4])):
            with self.subTest(fields=fields):
                key = str(fields)
                _, task_id = self.declare(key=key, **fields)
                for number in attempts + [attempts[0], 6]:
                    self.assert_same(task_id, key=key, **fields)
                    self.database.make_due()
                    running = self.take()
                    self.assertEqual(running.max_attempts, number)
                    self.assert_same(task_id, key=key, **fields)
                    self.client.ack(running)
                self.assert_same(task_id, key=key, **fields)
                self.admin("CancelTask", task_id)

    def assert_same(self, task_id, **fields):
        before = self.row(task_id)
        self.assertEqual(self.declare(**fields), ("EXISTING", task_id))
        self.assertEqual(self.row(task_id), before)

    def row(self, task_id):
        """The row as a whole, with the transaction that wrote it."""
        return self.database.run("SELECT xmin, t.* FROM skiplane.task t"
                                 f" WHERE id = {task_id.split('-')[1]}")

    def test_other_content_is_taken_and_the_planned_time_stays(self):
        task_id = self.first_run()
        planned = self.planned(task_id)
        for number, fields in enumerate(({"payload": b"two"}, {"headers": {"h": "2"}},
                                         {"content_type": "text/plain"}, {"priority": -4},
                                         {"max_attempts": 7})):
            with self.subTest(fields=fields):
                self.assertEqual(self.declare(**fields), ("REPLACED", task_id))
                self.assertEqual(self.declare(**fields), ("EXISTING", task_id))
                self.assertEqual(self.planned(task_id), planned, number)
        self.assert_idle()
        task = self.view(task_id)
        self.assertEqual((task.payload, task.content_type, dict(task.headers), task.priority,
                          task.max_attempts), (b"one", "", {}, 0, 7))

    def test_other_content_reaches_a_ready_task_with_its_new_priority(self):
        _, task_id = self.declare(priority=9)
        self.client.enqueue(QUEUE, b"urgent", priority=5)
        self.assertEqual(self.declare(b"two", priority=1), ("REPLACED", task_id))
        self.assertEqual([self.take().payload for _ in range(2)], [b"two", b"urgent"])

    def test_another_schedule_is_taken_without_an_extra_run(self):
        task_id = self.first_run()
        for fields, period in (({"period": 2 * HOUR}, 2 * HOUR),
                               ({"period": 2 * HOUR, "catch_up": "CATCH_UP_RUN_ALL"}, 2 * HOUR),
                               ({"period": 600}, 600), ({"period": HOUR}, HOUR)):
            with self.subTest(fields=fields):
                before = self.now()
                self.assertEqual(self.declare(**fields), ("REPLACED", task_id))
                self.assert_between(self.planned(task_id), before, period)
                self.assert_idle()
        counts = self.client.queue(QUEUE).counts
        self.assertEqual((counts.ready_count, counts.scheduled_count), (0, 1))

    def test_a_cron_schedule_goes_on_at_its_next_time(self):
        task_id = self.first_run()
        for fields in ({"cron": "30 3 * * *"}, {"cron": "30 3 * * *", "time_zone": "Asia/Tokyo"}):
            with self.subTest(fields=fields):
                self.assertEqual(self.declare(**fields), ("REPLACED", task_id))
                request = admin_pb2.PreviewScheduleRequest(count=1, **fields)
                preview = self.client.admin.PreviewSchedule(request, timeout=DEADLINE_S)
                self.assertEqual(self.planned(task_id),
                                 preview.planned_times[0].ToMicroseconds())
        self.assert_idle()

    def test_another_schedule_may_begin_in_the_future(self):
        task_id = self.first_run()
        start = timestamp_pb2.Timestamp(seconds=int(time.time()) + 5 * HOUR)
        self.assertEqual(self.declare(period=60, schedule_time=start), ("REPLACED", task_id))
        self.assertEqual(self.planned(task_id), start.ToMicroseconds())
        past = timestamp_pb2.Timestamp(seconds=1000)
        before = self.now()
        self.assertEqual(self.declare(period=90, schedule_time=past), ("REPLACED", task_id))
        self.assert_between(self.planned(task_id), before, 90)
        self.assert_idle()

    def test_a_ready_task_goes_to_the_next_planned_time_of_its_new_schedule(self):
        _, task_id = self.declare()
        before = self.now()
        self.assertEqual(self.declare(period=2 * HOUR), ("REPLACED", task_id))
        self.assert_idle()
        self.assert_between(self.planned(task_id), before, 2 * HOUR)

    def take_and_report(self):
        task = self.take(worker_id="w")
        self.client.heartbeat("w", 30, task, progress=task_pb2.TaskProgress(message="page 40"))
        return task

    def test_a_task_that_waits_for_a_retry_takes_what_differs(self):
        _, task_id = self.declare()
        task = self.take_and_report()
        self.client.nack(task, retry_delay=seconds(60), error=task_pb2.TaskError(type="Oops"))
        retry = self.view(task_id).schedule_time
        self.assertEqual(self.declare(b"two"), ("REPLACED", task_id))
        view = self.view(task_id)
        self.assertEqual((view.schedule_time, view.payload), (retry, b"two"))
        self.assertEqual((view.attempt_count, view.last_error.type), (1, "Oops"))
        self.assertFalse(view.HasField("last_progress"), "it was made with other content")
        self.assertEqual(self.declare(b"two", period=2 * HOUR), ("REPLACED", task_id))
        view = self.view(task_id)
        self.assertEqual((view.attempt_count, view.HasField("last_error")), (0, False))
        self.assertEqual(self.database.number(
            "SELECT sum(retrying) FROM (SELECT retrying FROM skiplane.error_delta UNION ALL"
            " SELECT retrying FROM skiplane.error_group) x"), 0)

    def test_a_run_of_another_schedule_does_not_resume_the_one_before(self):
        _, task_id = self.declare()
        self.client.nack(self.take_and_report(), retry_delay=seconds(60))
        self.assertEqual(self.view(task_id).last_progress.message, "page 40")
        self.assertEqual(self.declare(period=2 * HOUR), ("REPLACED", task_id))
        self.assertFalse(self.view(task_id).HasField("last_progress"))

    def test_bad_declarations_name_the_field(self):
        for fields, field in (({"key": ""}, "key_policy"), ({"version": 1}, "version")):
            with self.subTest(field=field):
                error = self.assert_refused("INVALID_ARGUMENT", "INVALID_FIELD", self.declare,
                                            **fields)
                self.assertIn(f"tasks[0].{field}", error.details())
        error = self.assert_refused("INVALID_ARGUMENT", "INVALID_FIELD", self.client.enqueue, QUEUE,
                                    key="k", key_policy="KEY_POLICY_SCHEDULE")
        self.assertIn("tasks[0].key_policy", error.details())
        self.assert_idle()


class DeclareScheduleByHttp(ByHttp, DeclareSchedule):
    pass


if __name__ == "__main__":
    unittest.main()
