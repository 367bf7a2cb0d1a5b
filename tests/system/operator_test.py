"""What operators do with single tasks: find, explain, change; and the audit of it."""

import unittest

from support.by_http import ByHttp
from support.case import SystemTest, slow
from support.client import (admin_pb2, bulk_pb2, fields_of, queue_pb2, seconds, state_name,
                            task_pb2)

QUEUE = "ops"


@slow
class Operator(SystemTest):
    def setUp(self):
        super().setUp()
        self.broker, self.client = self.start()
        self.client.create_queue(QUEUE)

    def put(self, payload=b"", **fields):
        return self.client.enqueue(QUEUE, payload, **fields)

    def change(self, verb, task_id, **fields):
        """The answer of AdminService.<verb>Task."""
        request = getattr(admin_pb2, f"{verb}TaskRequest")(task_id=task_id, **fields)
        return getattr(self.client.admin, f"{verb}Task")(request, timeout=60,
                                                         metadata=[("skiplane-actor", "ann")])

    def list(self, page_size=0, token="", view="TASK_VIEW_BASIC", **filters):
        request = admin_pb2.ListTasksRequest(
            filter=bulk_pb2.TaskFilter(queue=QUEUE, **filters), page_size=page_size,
            page_token=token, view=view)
        return self.client.admin.ListTasks(request, timeout=60)

    def ids(self, **filters):
        return [task.task_id for task in self.list(**filters).tasks]

    def explain(self, task_id):
        return self.client.admin.ExplainTask(admin_pb2.ExplainTaskRequest(task_id=task_id),
                                             timeout=60)

    def reasons(self, task_id):
        return [admin_pb2.WaitReason.Name(reason).removeprefix("WAIT_REASON_")
                for reason in self.explain(task_id).reasons]

    def assert_wrong_state(self, verb, task_id, **fields):
        return self.assert_refused("FAILED_PRECONDITION", "WRONG_STATE", self.change, verb,
                                   task_id, **fields)

    def test_a_new_priority_holds_at_the_next_lease(self):
        first, second = self.put(b"1"), self.put(b"2")
        self.assertEqual(self.change("Prioritize", second, priority=-5).task.priority, -5)
        self.assertEqual(self.client.lease(QUEUE)[0].task_id, second)
        self.assertEqual(self.client.lease(QUEUE)[0].task_id, first)

    def test_a_new_priority_may_be_zero_but_is_never_left_out(self):
        task_id = self.put(priority=3)
        error = self.assert_refused("INVALID_ARGUMENT", "INVALID_FIELD", self.change, "Prioritize",
                                    task_id)
        self.assertEqual(fields_of(error), ["priority"])
        self.assertEqual(self.client.task(task_id).priority, 3)
        self.assertEqual(self.change("Prioritize", task_id, priority=0).task.priority, 0)

    def test_a_delayed_task_is_brought_forward_and_wakes_a_worker(self):
        task_id = self.put(delay=seconds(3600))
        parked = self.client.lease_later(QUEUE)
        self.assertEqual(state_name(self.change("Reschedule", task_id, run_now={}).task.state),
                         "READY")
        self.assertEqual(parked.result().tasks[0].task_id, task_id)
        self.assert_wrong_state("Reschedule", task_id, run_now={})

    def test_a_ready_task_is_postponed(self):
        task_id = self.put()
        task = self.change("Reschedule", task_id, postpone=seconds(600)).task
        self.assertEqual(state_name(task.state), "SCHEDULED")
        self.assertEqual(self.client.lease(QUEUE, wait=0), [])
        counts = self.client.queue(QUEUE).counts
        self.assertEqual((counts.scheduled_count, counts.ready_count), (1, 0))

    def test_a_failed_task_starts_again_with_all_its_attempts(self):
        task_id = self.put(b"x", key="k", max_attempts=1)
        self.client.nack(self.client.lease(QUEUE)[0])
        self.assertEqual(self.client.state(task_id), "FAILED")
        self.assertEqual(state_name(self.change("Retry", task_id).task.state), "READY")
        [task] = self.client.lease(QUEUE)
        self.assertEqual((task.task_id, task.payload, task.attempt, task.key),
                         (task_id, b"x", 1, "k"))
        self.client.ack(task)
        self.assertEqual(self.client.queue(QUEUE).counts.failed_count, 0)

    def test_a_task_that_waits_for_its_retry_runs_now(self):
        task_id = self.put()
        self.client.nack(self.client.lease(QUEUE)[0])
        self.assertEqual(self.client.lease(QUEUE, wait=0), [])
        self.change("Retry", task_id)
        self.assertEqual(self.client.lease(QUEUE)[0].attempt, 2)

    def test_a_waiting_task_is_cancelled_at_once(self):
        task_id = self.put(key="k")
        self.assertEqual(state_name(self.change("Cancel", task_id).task.state), "CANCELLED")
        self.assertEqual(self.client.state(task_id), "CANCELLED")
        self.assertEqual(self.client.lease(QUEUE, wait=0), [])
        self.assertEqual(self.client.queue(QUEUE).counts.cancelled_count, 1)
        self.assert_wrong_state("Cancel", task_id)

    def test_the_worker_of_a_cancelled_task_learns_it_by_its_heartbeat(self):
        first, second = self.put(), self.put()
        tasks = self.client.lease(QUEUE, max_tasks=2, worker_id="w")
        self.change("Cancel", first)
        states = [result.state for result in self.client.heartbeat("w", 30, *tasks).results]
        self.assertEqual(states, [3, 1])
        self.client.nack(tasks[0])
        self.assertEqual(self.client.state(first), "CANCELLED")
        self.assertEqual(self.client.state(second), "LEASED")
        self.assertEqual(self.client.queue(QUEUE).counts.cancelled_count, 1)

    def test_an_ack_beats_a_cancel(self):
        task_id = self.put()
        [task] = self.client.lease(QUEUE, worker_id="w")
        self.change("Cancel", task_id)
        self.assertEqual(self.client.ack(task), ["SETTLED"])
        self.assertEqual(self.client.state(task_id), "SUCCEEDED")

    def test_a_dead_workers_cancelled_task_ends(self):
        task_id = self.put()
        self.client.lease(QUEUE, worker_id="dies", duration=1)
        self.change("Cancel", task_id)
        self.database.eventually("SELECT count(*) = 0 FROM skiplane.task")
        self.assertEqual(self.client.state(task_id), "CANCELLED")

    def test_a_deleted_task_and_its_key_are_gone(self):
        task_id = self.put(key="k")
        self.change("Delete", task_id)
        self.assert_refused("NOT_FOUND", "TASK_NOT_FOUND", self.client.task, task_id)
        self.assertNotEqual(self.put(key="k"), task_id)
        [task] = self.client.lease(QUEUE)
        self.assert_wrong_state("Delete", task.task_id)

    def test_a_periodic_task_is_paused_resumed_and_triggered(self):
        task_id = self.put(period=seconds(3600))
        self.client.ack(self.client.lease(QUEUE)[0])
        planned = self.client.task(task_id).recurrence.planned_time
        self.assertTrue(self.change("Pause", task_id).task.recurrence.paused)
        self.assertEqual(self.reasons(task_id), ["TASK_PAUSED"])
        self.database.run("UPDATE skiplane.task"
                          " SET planned_time = planned_time - interval '2 hours'")
        self.change("Trigger", task_id)
        self.client.ack(self.client.lease(QUEUE)[0])
        self.assertEqual(self.client.lease(QUEUE, wait=0), [])
        self.assertTrue(self.client.task(task_id).recurrence.paused)
        resumed = self.change("Resume", task_id).task
        self.assertFalse(resumed.recurrence.paused)
        self.assertEqual(resumed.schedule_time, planned)
        self.assert_wrong_state("Resume", task_id)

    def test_a_periodic_task_that_is_paused_while_it_runs_stays_so_after_its_ack(self):
        task_id = self.put(period=seconds(3600))
        [task] = self.client.lease(QUEUE, worker_id="w")
        self.change("Pause", task_id)
        [result] = self.client.ack_results(task)
        self.assertEqual((state_name(result.state), result.HasField("schedule_time")),
                         ("SCHEDULED", False))
        self.assertEqual(self.reasons(task_id), ["TASK_PAUSED"])
        self.assertEqual(state_name(self.change("Resume", task_id).task.state), "SCHEDULED")
        self.change("Trigger", task_id)
        self.client.lease(QUEUE, worker_id="dies", duration=1)
        self.change("Pause", task_id)
        self.database.eventually("SELECT state = 1 FROM skiplane.task")
        self.assertEqual(self.reasons(task_id), ["TASK_PAUSED"])

    def test_a_paused_task_runs_by_a_trigger_only(self):
        task_id = self.put(period=seconds(3600))
        self.client.nack(self.client.lease(QUEUE)[0], retry_delay=seconds(60))
        self.change("Pause", task_id)
        for verb, fields in (("Reschedule", {"run_now": {}}),
                             ("Reschedule", {"schedule_time": {"seconds": 1}}),
                             ("Reschedule", {"postpone": seconds(0)}), ("Retry", {})):
            with self.subTest(verb=verb, **fields):
                error = self.assert_wrong_state(verb, task_id, **fields)
                self.assertIn("resume it (ResumeTask) or trigger it (TriggerTask)",
                              error.details())
                self.assertEqual(self.reasons(task_id), ["TASK_PAUSED"])
        self.assertEqual(self.client.lease(QUEUE, wait=0), [])
        self.change("Trigger", task_id)
        self.assertEqual(self.client.lease(QUEUE)[0].task_id, task_id)

    def test_a_refusal_names_the_tasks_that_the_change_is_for(self):
        task_id = self.put()
        error = self.assert_wrong_state("Retry", task_id)
        self.assertEqual(error.details(),
                         "RetryTask is for FAILED tasks and tasks that wait for a retry: task "
                         f"{task_id} is READY and not periodic")

    def test_a_cancel_ends_a_task_that_would_move_on(self):
        self.client.create_queue("line", stages=[queue_pb2.Stage(name="a"),
                                                 queue_pb2.Stage(name="b")])
        for queue, fields in (("line", {}), (QUEUE, {"period": seconds(60)})):
            task_id = self.client.enqueue(queue, **fields)
            [task] = self.client.lease(queue, worker_id="w")
            self.change("Cancel", task_id)
            self.assertEqual(state_name(self.client.ack_results(task)[0].state), "CANCELLED")
            self.assertEqual(self.client.ack(task), ["ALREADY_SETTLED"])
            self.assertEqual(self.client.state(task_id), "CANCELLED")

    def test_newer_content_outlives_a_cancel_of_the_old(self):
        put = {"key": "k", "key_policy": "KEY_POLICY_RERUN_IF_NEWER"}
        task_id = self.put(b"old", version=1, **put)
        [task] = self.client.lease(QUEUE, worker_id="w")
        self.change("Cancel", task_id)
        self.put(b"new", version=2, **put)
        self.client.nack(task)
        self.assertEqual(self.client.lease(QUEUE)[0].payload, b"new")

    def test_only_periodic_tasks_are_paused_and_triggered(self):
        task_id = self.put()
        for verb in ("Pause", "Resume", "Trigger"):
            self.assert_wrong_state(verb, task_id)

    def test_the_next_times_of_schedules(self):
        def preview(**fields):
            request = admin_pb2.PreviewScheduleRequest(**fields)
            times = self.client.admin.PreviewSchedule(request, timeout=60).planned_times
            return [time.ToDatetime() for time in times]
        times = preview(cron="0 12 * * mon", count=3)
        self.assertEqual([(time.weekday(), time.hour) for time in times], [(0, 12)] * 3)
        self.assertEqual(len(preview(cron="@daily", time_zone="Asia/Tokyo")), 10)
        # A Timestamp can say no more than the year 9999.
        decades = preview(period=seconds(3653 * 86400), count=1000)
        self.assertGreater(decades[-1].year, 9980)
        self.assertLess(len(decades), 1000)
        task_id = self.put(period=seconds(60))
        planned = self.client.task(task_id).recurrence.planned_time.ToDatetime()
        self.assertEqual(preview(task_id=task_id, count=2)[0], planned)
        refused = ("INVALID_ARGUMENT", "INVALID_FIELD")
        error = self.assert_refused(*refused, preview, cron="99 * * * *")
        self.assertIn("cron", error.details())
        error = self.assert_refused(*refused, preview, cron="* * * * *", time_zone="Nowhere/Land")
        self.assertIn("time_zone", error.details())
        self.assert_refused("FAILED_PRECONDITION", "WRONG_STATE", preview, task_id=self.put())

    def test_lists_by_every_part_of_the_filter(self):
        ready = self.put(key="user:1", headers={"kind": "a", "x": "1"}, priority=3)
        later = self.put(key="user:2", delay=seconds(600), headers={"kind": "b"})
        held = self.put(priority=-9)
        self.client.lease(QUEUE)
        every = self.put(period=seconds(60), key="job")
        self.assertEqual(self.ids(), [ready, later, held, every])
        self.assertEqual(self.ids(key_prefix="user:"), [ready, later])
        self.assertEqual(self.ids(headers={"kind": "a"}), [ready])
        self.assertEqual(self.ids(states=["TASK_STATE_SCHEDULED"]), [later])
        self.assertEqual(self.ids(states=["TASK_STATE_LEASED"]), [held])
        self.assertEqual(self.ids(priority=3), [ready])
        self.assertEqual(self.ids(periodic=True), [every])
        self.assertEqual(self.ids(periodic=False), [ready, later, held])
        self.assertEqual(self.ids(min_age=seconds(3600)), [])
        self.assertEqual(len(self.ids(max_age=seconds(3600))), 4)
        self.assertEqual(self.ids(key_prefix="user:%' OR true --"), [])

    def test_lists_finished_tasks_too(self):
        done, failed, cancelled = self.put(), self.put(), self.put()
        for task in self.client.lease(QUEUE, max_tasks=2):
            if task.task_id == done:
                self.client.ack(task)
            else:
                self.client.nack(task, "FAIL")
        self.change("Cancel", cancelled)
        self.assertEqual(self.ids(states=["TASK_STATE_SUCCEEDED"]), [done])
        self.assertEqual(self.ids(states=["TASK_STATE_FAILED"]), [failed])
        self.assertEqual(self.ids(states=["TASK_STATE_CANCELLED"]), [cancelled])

    def test_a_finished_task_that_lives_again_is_listed_as_it_is_now(self):
        put = {"key": "k", "key_policy": "KEY_POLICY_RERUN_IF_NEWER"}
        task_id = self.put(version=1, **put)
        self.client.ack(*self.client.lease(QUEUE))
        self.assertEqual(self.put(version=2, **put), task_id)
        self.assertEqual(self.ids(states=["TASK_STATE_SUCCEEDED"]), [])
        self.assertEqual(self.ids(states=["TASK_STATE_READY"]), [task_id])

    def test_pages_hold_every_task_once(self):
        self.client.create_queue("many", lane_count=4)
        wanted = {result.task_id for result in self.client.enqueue_all(
            "many", [self.client.new_task(key=f"k{i}") for i in range(250)])}
        seen, token, pages = [], "", 0
        while pages == 0 or token:
            request = admin_pb2.ListTasksRequest(filter=bulk_pb2.TaskFilter(queue="many"),
                                                 page_size=60, page_token=token)
            answer = self.client.admin.ListTasks(request, timeout=60)
            self.assertLessEqual(len(answer.tasks), 60)
            seen += [task.task_id for task in answer.tasks]
            token, pages = answer.next_page_token, pages + 1
        self.assertEqual((len(seen), set(seen)), (250, wanted))

    def test_forged_and_foreign_tokens_are_refused(self):
        for _ in range(3):
            self.put()
        token = self.list(page_size=1).next_page_token
        self.assertTrue(token)
        for bad in ("x", token[:-1], token + "0", token.replace("2.", "3.", 1)):
            error = self.assert_refused("INVALID_ARGUMENT", "INVALID_FIELD", self.list, 1, bad)
            self.assertIn("page_token", error.details())
        self.assert_refused("INVALID_ARGUMENT", "INVALID_FIELD", self.list, 1, token,
                            key_prefix="other")

    def test_the_full_view_has_the_payload(self):
        task_id = self.put(b"paid", content_type="text/plain", headers={"h": "1"})
        [task] = self.list(view="TASK_VIEW_FULL").tasks
        self.assertEqual((task.payload, task.content_type, dict(task.headers)),
                         (b"paid", "text/plain", {"h": "1"}))
        self.assertEqual(self.list().tasks[0].payload, b"")
        request = admin_pb2.GetTaskRequest(task_id=task_id, view="TASK_VIEW_FULL")
        self.assertEqual(self.client.admin.GetTask(request, timeout=60).task.payload, b"paid")

    def test_the_attempts_of_a_task(self):
        task_id = self.put(max_attempts=3)
        error = task_pb2.TaskError(type="Boom", text=b"it broke")
        self.client.nack(self.client.lease(QUEUE, worker_name="joe", worker_id="w")[0],
                         error=error)
        self.database.make_due()
        self.client.ack(self.client.lease(QUEUE)[0])
        request = admin_pb2.GetTaskRequest(task_id=task_id, attempts_page_size=10)
        last, first = self.client.admin.GetTask(request, timeout=60).attempts
        self.assertEqual((first.attempt, first.outcome, first.error.type, first.worker_name,
                          first.ends_task), (1, task_pb2.ATTEMPT_OUTCOME_RETRIED, "Boom", "joe",
                                           False))
        self.assertEqual((last.attempt, last.outcome, last.ends_task),
                         (2, task_pb2.ATTEMPT_OUTCOME_SUCCEEDED, True))

    def test_a_worker_keeps_its_name_when_a_later_call_has_none(self):
        self.put(), self.put()
        self.client.lease(QUEUE, worker_id="w", worker_name="joe", duration=5)
        # Longer than the session is known to live: it is renewed.
        self.client.lease(QUEUE, worker_id="w", duration=600)
        workers = self.client.admin.ListWorkers(admin_pb2.ListWorkersRequest(), timeout=60).workers
        self.assertEqual([worker.name for worker in workers], ["joe"])

    def test_why_a_task_does_not_run(self):
        ahead, task_id = self.put(priority=-1), self.put()
        self.assertEqual(self.reasons(task_id), ["NO_WORKER", "BEHIND_OTHERS"])
        self.assertEqual(self.explain(task_id).ahead_count, 1)
        self.client.pause(QUEUE, "LEASE", "deploy")
        self.assertEqual(self.reasons(task_id)[0], "QUEUE_PAUSED")
        self.assertIn("deploy", self.explain(task_id).explanation)
        self.client.resume(QUEUE)
        [task] = self.client.lease(QUEUE, worker_id="w", worker_name="joe")
        self.assertEqual((task.task_id, self.reasons(ahead)), (ahead, ["RUNNING"]))
        self.assertIn("joe", self.explain(ahead).explanation)
        self.assertEqual(self.reasons(task_id), ["WORKERS_BUSY"])
        self.assertEqual(self.explain(task_id).busy_worker_count, 1)
        self.client.nack(task)
        self.assertEqual(self.reasons(ahead), ["RETRY"])
        self.assertEqual(self.reasons(self.put(delay=seconds(60))), ["SCHEDULED"])
        self.client.ack(self.client.lease(QUEUE)[0])
        self.assertEqual(self.reasons(task_id), ["FINISHED"])

    def test_every_change_is_in_the_audit(self):
        task_id = self.put()
        self.change("Prioritize", task_id, priority=2)
        self.change("Cancel", task_id)
        self.assert_wrong_state("Cancel", task_id)
        self.client.pause(QUEUE, "LEASE", "why")
        request = admin_pb2.ListAuditRecordsRequest(queue=QUEUE)
        records = self.client.admin.ListAuditRecords(request, timeout=60).records
        self.assertEqual([record.method for record in records],
                         ["PauseQueue", "CancelTask", "PrioritizeTask", "CreateQueue"])
        self.assertEqual((records[2].actor, records[2].changed_count), ("ann", 1))
        self.assertTrue(records[2].caller.startswith("ipv4:127.0.0.1:"), records[2].caller)
        self.assertIn('"priority": 2', records[2].request_json)

    def test_bad_requests_name_the_field(self):
        task_id = self.put()
        refused = ("INVALID_ARGUMENT", "INVALID_FIELD")
        for call, field in (
                (lambda: self.change("Prioritize", task_id, priority=40000), "priority"),
                (lambda: self.change("Reschedule", task_id), "time"),
                (lambda: self.change("Reschedule", task_id, postpone=seconds(-1)), "postpone"),
                (lambda: self.change("Cancel", "nonsense"), "task_id"),
                (lambda: self.list(stage="none"), "filter.stage"),
                (lambda: self.list(page_size=-1), "page_size"),
                (lambda: self.list(states=[99]), "filter.states[0]"),
                (lambda: self.list(priority=70000), "filter.priority")):
            with self.subTest(field=field):
                self.assertIn(field, self.assert_refused(*refused, call).details())
        self.assertEqual(self.client.task(task_id).priority, 0)
        self.assertEqual(queue_pb2.PAUSE_MODE_NONE, self.client.queue(QUEUE).pause_mode)


class OperatorByHttp(ByHttp, Operator):
    pass


if __name__ == "__main__":
    unittest.main()
