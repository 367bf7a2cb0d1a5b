"""What comes with the hello of a worker's stream, or right behind it."""

import unittest

from support.client import broker_pb2, new_id, reason_of
from support.stream import ack_of, lease_states, outcome_of
from work_stream_test import Streams


def beat_of(number):
    return broker_pb2.WorkRequest(heartbeat=broker_pb2.WorkHeartbeat(number=number))


class Early(Streams):
    """The commit of the session is held back until what is to wait for it is at the broker."""

    def setUp(self):
        super().setUp()
        self.client.enqueue("q", b"x")
        self.worker_id = new_id()
        [self.task] = self.client.lease("q", worker_id=self.worker_id, duration=30)
        self.database.let_commits_wait("worker_session")

    def greet(self, **options):
        """A new worker, whose session is not committed before release()."""
        self.lock = self.database.hold_commits("worker_session")
        return self.work(**options)

    def release(self):
        """By then the broker has what was sent before: it has answered others that came later."""
        self.database.wait_for_lock_wait()
        for _ in range(10):
            self.client.enqueue("other", b"x")
        self.lock.release()

    def assert_welcome_first(self, worker):
        worker.read()
        self.assertIsNotNone(worker.welcome)
        self.assertEqual((worker.results, worker.beats), ({}, {}))

    def test_a_heartbeat_right_behind_the_hello_finds_the_session(self):
        worker = self.greet()
        worker.send(beat_of(1))
        self.release()
        self.assert_welcome_first(worker)
        worker.read_until(lambda: 1 in worker.beats)
        self.assertTrue(worker.beats[1].response.session_alive)

    def test_a_heartbeat_in_the_first_message_finds_the_session(self):
        worker = self.greet(beside=beat_of(1))
        self.release()
        self.assert_welcome_first(worker)
        worker.read_until(lambda: 1 in worker.beats)
        self.assertTrue(worker.beats[1].response.session_alive)

    def test_a_settlement_in_the_first_message_is_answered_after_the_welcome(self):
        settlement = broker_pb2.WorkSettlement(number=1, item=ack_of(self.task))
        worker = self.greet(beside=broker_pb2.WorkRequest(settlements=[settlement]))
        self.release()
        self.assert_welcome_first(worker)
        self.assertEqual(outcome_of(worker.result(1)), "SETTLED")

    def test_what_was_sent_before_a_half_close_is_answered_and_the_end_is_ok(self):
        worker = self.greet()
        [number] = worker.settle(ack_of(self.task))
        worker.send_no_more()
        self.release()
        self.assert_welcome_first(worker)
        self.assertEqual(outcome_of(worker.result(number)), "SETTLED")
        with self.assertRaises(StopIteration):
            worker.read()

    def test_credit_in_the_first_message_counts_from_the_welcome_on(self):
        worker = self.greet(credit=1)
        self.client.enqueue("q", b"y")
        self.release()
        [task] = worker.take()
        self.assertEqual(task.payload, b"y")
        self.assertEqual(worker.ack(task), ["SETTLED"])


class GivenBack(Streams):
    """What a worker's next hello does not name goes to others: whoever goes on with it is told."""

    def test_a_heartbeat_by_call_says_that_they_are_lost(self):
        for _ in range(2):
            self.client.enqueue("q", b"x")
        worker_id = new_id()
        before = self.client.lease("q", worker_id=worker_id, duration=30, max_tasks=2)
        self.work("other", worker_id=worker_id).wait_for_welcome()
        for _ in before:
            self.assertEqual([task.attempt for task in self.client.lease("q")], [1])
        states = lease_states(self.client.heartbeat(worker_id, 30, *before).results)
        self.assertEqual(states, ["LOST"] * 2)

    def test_a_heartbeat_of_the_stream_before_at_another_broker_says_so(self):
        _, other = self.start("--auto-create-queues")
        for _ in range(2):
            self.client.enqueue("q", b"x")
        first = self.work(credit=2)
        kept, dropped = first.take(2)
        self.work("other", client=other, worker_id=first.worker_id, held=[kept]).wait_for_welcome()
        [again] = self.client.lease("q", worker_id=new_id())
        self.assertEqual(again.task_id, dropped.task_id)
        self.assertEqual(lease_states(first.beat(kept, dropped).response.results), ["HELD", "LOST"])


class Refused(Streams):

    def test_a_hello_that_is_half_closed_at_once_is_refused_all_the_same(self):
        _, client = self.start()
        client.create_queue("q")
        for queue, reason in (("nowhere", "QUEUE_NOT_FOUND"),
                              (broker_pb2.LeaseQueue(name="q", stage="x"), "INVALID_FIELD")):
            worker = self.work(queue, client=client)
            worker.send_no_more()
            self.assertEqual(reason_of(worker.refusal()), reason)

    def test_credit_that_is_none_makes_no_session(self):
        worker = self.work(credit=-1)
        self.assertEqual(reason_of(worker.refusal()), "INVALID_FIELD")
        self.assertIsNone(worker.welcome)


if __name__ == "__main__":
    unittest.main()
