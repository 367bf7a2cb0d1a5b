"""Who lost a task cannot settle it any more, and who settled it may say so again."""

import unittest

from support.case import SystemTest
from support.client import broker_pb2, seconds

QUEUE = "fence"


class Fence(SystemTest):
    def setUp(self):
        super().setUp()
        self.broker, self.client = self.start()
        self.client.create_queue(QUEUE)
        self.task_id = self.client.enqueue(QUEUE, b"once")

    def lose(self):
        """A task whose first worker fell silent, in the hands of a second one."""
        [late] = self.client.lease(QUEUE, worker_id="late")
        self.database.expire_sessions()
        [current] = self.client.lease(QUEUE, worker_id="current")
        self.assertEqual(current.task_id, late.task_id)
        self.assertEqual((late.attempt, current.attempt), (1, 2))
        return late, current

    def nack_outcome(self, task, *disposition, **fields):
        outcome = self.client.nack(task, *disposition, **fields).outcome
        return broker_pb2.SettleOutcome.Name(outcome).removeprefix("SETTLE_OUTCOME_")

    def assert_refused_without_a_trace(self, late):
        before = self.database.picture()
        self.assertEqual(self.client.ack(late), ["LEASE_LOST"])
        self.assertEqual(self.nack_outcome(late), "LEASE_LOST")
        self.assertEqual(self.nack_outcome(late, "RELEASE"), "LEASE_LOST")
        self.assertEqual(self.nack_outcome(late, "FAIL"), "LEASE_LOST")
        self.assertEqual(self.database.picture(), before)

    def test_a_late_ack_is_refused_while_another_worker_has_the_task(self):
        late, current = self.lose()
        self.assert_refused_without_a_trace(late)
        self.assertEqual(self.client.ack(current), ["SETTLED"])

    def test_a_late_ack_is_refused_after_the_other_worker_finished(self):
        late, current = self.lose()
        self.assertEqual(self.client.ack(current), ["SETTLED"])
        self.assert_refused_without_a_trace(late)
        self.assertEqual(self.client.ack(current), ["ALREADY_SETTLED"])
        self.assertEqual(self.client.state(self.task_id), "SUCCEEDED")

    def test_a_late_ack_is_refused_after_the_other_worker_failed(self):
        late, current = self.lose()
        self.assertEqual(self.nack_outcome(current, "FAIL"), "SETTLED")
        self.assert_refused_without_a_trace(late)
        self.assertEqual(self.client.state(self.task_id), "FAILED")

    def test_a_late_ack_is_refused_while_the_task_waits_for_its_next_attempt(self):
        late, current = self.lose()
        self.assertEqual(self.nack_outcome(current), "SETTLED")
        self.assert_refused_without_a_trace(late)
        self.assertEqual(self.client.state(self.task_id), "SCHEDULED")

    def test_a_late_ack_at_the_other_broker_is_refused_too(self):
        late, current = self.lose()
        other = self.client_of(self.start_broker())
        self.assertEqual(other.ack(late), ["LEASE_LOST"])
        self.assertEqual(other.ack(current), ["SETTLED"])
        self.assertEqual(other.ack(late, current), ["LEASE_LOST", "ALREADY_SETTLED"])

    def test_an_ack_after_ones_own_nack_changes_nothing(self):
        [task] = self.client.lease(QUEUE)
        self.client.nack(task, retry_delay=seconds(3600))
        before = self.database.picture()
        self.assertEqual(self.client.ack(task), ["LEASE_LOST"])  # not done: it waits again
        self.assertEqual(self.database.picture(), before)

    def test_a_repeated_ack_is_answered_as_settled(self):
        [task] = self.client.lease(QUEUE)
        self.assertEqual(self.client.ack(task), ["SETTLED"])
        before = self.database.picture()
        self.assertEqual(self.client.ack(task), ["ALREADY_SETTLED"])
        self.assertEqual(self.client_of(self.start_broker()).ack(task), ["ALREADY_SETTLED"])
        self.assertEqual(self.database.picture(), before)

    def test_one_call_with_the_same_token_twice_acks_once(self):
        [task] = self.client.lease(QUEUE)
        self.assertEqual(self.client.ack(task, task), ["SETTLED", "ALREADY_SETTLED"])
        self.assertEqual(
            self.database.number("SELECT count(*) FROM skiplane.history"), 1)

    def test_a_heartbeat_tells_a_worker_that_it_lost_its_task(self):
        late, current = self.lose()
        lost = self.client.heartbeat("late", 30, late)
        self.assertFalse(lost.session_alive)
        self.assertEqual([result.state for result in lost.results], [broker_pb2.LEASE_STATE_LOST])
        held = self.client.heartbeat("current", 30, current, late)
        self.assertTrue(held.session_alive)
        self.assertEqual([result.state for result in held.results],
                         [broker_pb2.LEASE_STATE_HELD, broker_pb2.LEASE_STATE_LOST])


if __name__ == "__main__":
    unittest.main()
