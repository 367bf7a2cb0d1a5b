"""Schedules that are declared while their tasks run, are paused, have ended, or do not recur."""

import unittest

from support.client import broker_pb2, queue_pb2, seconds, state_name
from support.by_http import ByHttp
from support.declare import HOUR, QUEUE, DeclareTest


class DeclareRunning(DeclareTest):
    def test_a_running_attempt_goes_on_and_its_ack_arms_the_new_schedule(self):
        _, task_id = self.declare()
        running = self.take()
        before = self.now()
        self.assertEqual(self.declare(b"two", period=2 * HOUR), ("REPLACED", task_id))
        self.assertEqual(self.declare(b"two", period=2 * HOUR), ("EXISTING", task_id))
        self.assert_idle()
        self.assertEqual(state_name(self.view(task_id).state), "LEASED")
        [result] = self.client.ack_results(running)
        self.assertEqual(state_name(result.state), "SCHEDULED")
        self.assert_between(self.planned(task_id), before, 2 * HOUR)
        self.assert_idle()
        self.database.make_due()
        self.assertEqual(self.take().payload, b"two")

    def test_a_run_that_ends_after_the_new_planned_time_skips_or_runs_it(self):
        for catch_up, state in (("CATCH_UP_SKIP_MISSED", "SCHEDULED"),
                                ("CATCH_UP_RUN_ALL", "READY")):
            with self.subTest(catch_up=catch_up):
                _, task_id = self.declare(key=catch_up)
                running = self.take()
                self.declare(key=catch_up, period=60, catch_up=catch_up)
                # As if the run had begun two minutes ago, and the declaration come at once.
                number = task_id.split("-")[1]
                self.database.run("UPDATE skiplane.task SET planned_time = planned_time -"
                                  " interval '2 min', lease_time = lease_time - interval '2 min'"
                                  f" WHERE id = {number}")
                planned = self.planned(task_id)
                [result] = self.client.ack_results(running)
                self.assertEqual(state_name(result.state), state)
                if state == "READY":
                    self.assertEqual(self.take().planned_time.ToMicroseconds(), planned)

    def test_a_running_attempt_that_fails_is_retried_with_the_new_content(self):
        _, task_id = self.declare()
        running = self.take()
        self.declare(b"two", period=2 * HOUR)
        self.client.nack(running, retry_delay=seconds(0))
        again = self.take()
        self.assertEqual((again.task_id, again.attempt, again.payload), (task_id, 2, b"two"))
        self.client.ack(again)
        self.assert_idle()

    def test_a_paused_task_stays_paused(self):
        task_id = self.first_run()
        self.admin("PauseTask", task_id)
        before = self.now()
        self.assertEqual(self.declare(), ("EXISTING", task_id))
        self.assertEqual(self.declare(b"two"), ("REPLACED", task_id))
        self.assertEqual(self.declare(b"two", period=2 * HOUR), ("REPLACED", task_id))
        task = self.view(task_id)
        self.assertTrue(task.recurrence.paused)
        self.assertFalse(task.HasField("schedule_time"))
        self.assert_between(self.planned(task_id), before, 2 * HOUR)
        self.admin("ResumeTask", task_id)
        self.assert_between(self.planned(task_id), before, 2 * HOUR)
        self.assertEqual(self.client.queue(QUEUE).counts.scheduled_count, 1)
        self.assert_idle()

    def test_a_finished_task_starts_again_at_its_next_planned_time(self):
        task_id = self.first_run()
        self.admin("CancelTask", task_id)
        before = self.now()
        self.assertEqual(self.declare(b"two"), ("RESTARTED", task_id))
        self.assert_between(self.planned(task_id), before, HOUR)
        self.assertEqual(self.declare(b"two"), ("EXISTING", task_id))
        self.assert_idle()

    def test_a_failed_task_that_was_not_periodic_starts_again_as_declared(self):
        [failed] = self.client.enqueue_all(QUEUE, [self.client.new_task(key="daily")])
        self.client.nack(self.take(), "FAIL")
        self.assertEqual(self.client.state(failed.task_id), "FAILED")
        before = self.now()
        self.assertEqual(self.declare(), ("RESTARTED", failed.task_id))
        self.assert_between(self.planned(failed.task_id), before, HOUR)
        self.assertEqual(self.client.queue(QUEUE).counts.failed_count, 0)
        self.assert_idle()

    def test_a_task_that_is_not_periodic_becomes_so(self):
        task_id = self.client.enqueue(QUEUE, b"once", key="daily")
        before = self.now()
        self.assertEqual(self.declare(), ("REPLACED", task_id))
        self.assert_idle()
        self.assert_between(self.planned(task_id), before, HOUR)
        other = self.client.enqueue(QUEUE, b"once", key="other")
        running = self.take()
        self.assertEqual(self.declare(key="other"), ("REPLACED", other))
        [result] = self.client.ack_results(running)
        self.assertEqual(state_name(result.state), "SCHEDULED")
        self.assert_idle()

    def test_a_cancel_that_waits_for_the_attempt_is_done(self):
        _, task_id = self.declare()
        running = self.take()
        self.admin("CancelTask", task_id)
        self.assertEqual(self.declare(b"two"), ("REPLACED", task_id))
        self.client.ack(running)
        self.assertEqual(self.client.state(task_id), "CANCELLED")
        self.assertEqual(self.declare(b"two"), ("RESTARTED", task_id))

    def test_content_that_is_declared_at_a_later_stage_is_the_next_runs(self):
        self.client.update_queue(QUEUE, "stages", stages=[
            queue_pb2.Stage(name="fetch"), queue_pb2.Stage(name="store")])
        _, task_id = self.declare()
        self.client.ack_results(self.take(), next_payload=broker_pb2.NextPayload(payload=b"got"))
        self.assertEqual(self.declare(), ("EXISTING", task_id))
        before = self.now()
        self.assertEqual(self.declare(b"two", period=2 * HOUR), ("REPLACED", task_id))
        self.assertEqual(self.declare(b"two", period=2 * HOUR), ("EXISTING", task_id))
        stored = self.take()
        self.assertEqual((stored.stage, stored.payload), ("store", b"got"))
        self.client.ack(stored)
        self.assert_between(self.planned(task_id), before, 2 * HOUR)
        self.assertEqual(self.view(task_id).payload, b"two")
        self.assertEqual(self.declare(b"two", period=2 * HOUR), ("EXISTING", task_id))


class DeclareRunningByHttp(ByHttp, DeclareRunning):
    pass


if __name__ == "__main__":
    unittest.main()
