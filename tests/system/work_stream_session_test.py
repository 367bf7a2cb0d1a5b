"""A worker's stream whose session is gone: it is told, however silent the worker is."""

import unittest

from support.client import broker_pb2, reason_of
from support.stream import lease_states
from work_stream_test import Streams


class Gone(Streams):
    """None of these streams has credit, and none of these workers says anything."""

    def held(self, *payloads, client=None, **options):
        """A worker that holds these tasks, and the tasks."""
        for payload in payloads:
            self.client.enqueue("q", payload)
        worker = self.work(client=client, credit=len(payloads), **options)
        return worker, worker.take(len(payloads))

    def end_session(self, worker, client=None):
        (client or self.client).broker.Heartbeat(broker_pb2.HeartbeatRequest(
            worker_id=worker.worker_id, end_session=True))

    def assert_lost(self, worker, tasks, reason="SESSION_LOST"):
        """The stream says of these that they are lost, and then it ends."""
        error = worker.refusal()
        self.assertEqual((error.code().name, reason_of(error)), ("ABORTED", reason))
        self.assertEqual(set(lease_states(worker.notices)), {"LOST"} if tasks else set())
        self.assertEqual(sorted(notice.lease_token for notice in worker.notices),
                         sorted(task.lease_token for task in tasks))

    def test_a_worker_that_was_silent_for_too_long(self):
        worker, tasks = self.held(b"1", b"2")
        self.database.expire_sessions()
        self.assert_lost(worker, tasks)

    def test_a_worker_that_holds_nothing(self):
        worker = self.work()
        worker.wait_for_welcome()
        self.database.expire_sessions()
        self.assert_lost(worker, [])

    def test_a_session_that_a_call_ended(self):
        worker, tasks = self.held(b"1")
        self.end_session(worker)
        self.assert_lost(worker, tasks)

    def test_a_session_that_was_ended_at_another_broker(self):
        _, other = self.start()
        self.database.eventually("SELECT count(*) FROM skiplane.broker", wanted="2")
        worker, tasks = self.held(b"1")
        self.end_session(worker, other)
        self.assert_lost(worker, tasks)

    def test_other_workers_go_on(self):
        worker, tasks = self.held(b"1")
        other, [task] = self.held(b"2")
        self.end_session(worker)
        self.assert_lost(worker, tasks)
        self.assertEqual(other.ack(task), ["SETTLED"])

    def test_a_worker_that_ends_its_session_itself_gets_its_answers(self):
        worker, [task] = self.held(b"1")
        self.assertFalse(worker.beat(task, end_session=True).response.session_alive)
        self.assertEqual(worker.ack(task), ["LEASE_LOST"])
        self.end_session(worker)
        self.assertEqual(worker.ack(task), ["LEASE_LOST"])
        worker.send_no_more()
        with self.assertRaises(StopIteration):
            worker.read()

    # Heartbeats are gathered for a moment, and ends are not. The stream once said that leases were
    # lost, and ended.
    def test_a_heartbeat_that_its_own_end_of_the_session_overtakes(self):
        worker, [task] = self.held(b"1")
        beats = [worker.begin_beat(task) for _ in range(5)]
        end = worker.begin_beat(task, end_session=True)
        for number in [*beats, end]:
            self.assertTrue(worker.beat_answer(number).HasField("response"))
        self.assertEqual(worker.ack(task), ["LEASE_LOST"])
        self.assertEqual(list(worker.notices), [])
        worker.send_no_more()
        with self.assertRaises(StopIteration):
            worker.read()

    def test_a_session_whose_end_was_refused_is_lost_like_any_other(self):
        worker, tasks = self.held(b"1")
        unreadable = broker_pb2.LeasedTask(lease_token=b"no token")
        self.assertTrue(worker.beat(unreadable, end_session=True).HasField("refusal"))
        self.database.expire_sessions()
        self.assert_lost(worker, tasks)

    def test_a_worker_whose_end_was_refused_gets_the_next_task(self):
        worker = self.work(credit=1)
        worker.wait_for_welcome()
        unreadable = broker_pb2.LeasedTask(lease_token=b"no token")
        self.assertTrue(worker.beat(unreadable, end_session=True).HasField("refusal"))
        self.client.enqueue("q", b"x")
        [task] = worker.take()
        self.assertEqual(worker.ack(task), ["SETTLED"])


class Replaced(Streams):

    def test_what_the_next_stream_does_not_name_is_told_to_be_lost(self):
        for payload in (b"1", b"2"):
            self.client.enqueue("q", payload)
        first = self.work(credit=2)
        kept, dropped = first.take(2)
        second = self.work(worker_id=first.worker_id, held=[kept], credit=1)
        self.assertEqual(reason_of(first.refusal()), "STREAM_REPLACED")
        self.assertEqual([(notice.lease_token, *lease_states([notice]))
                          for notice in first.notices], [(dropped.lease_token, "LOST")])
        [again] = second.take()
        self.assertEqual((again.task_id, again.attempt), (dropped.task_id, 1))
        self.assertEqual(second.ack(kept, again), ["SETTLED"] * 2)

    def test_a_hello_that_is_refused_gives_nothing_back(self):
        self.client.enqueue("q", b"x")
        first = self.work(credit=1)
        [task] = first.take()
        stage = broker_pb2.LeaseQueue(name="q", stage="x")
        second = self.work(stage, worker_id=first.worker_id)
        self.assertEqual(reason_of(second.refusal()), "INVALID_FIELD")
        self.assertEqual(reason_of(first.refusal()), "STREAM_REPLACED")
        self.assertEqual(first.notices, [])
        third = self.work(worker_id=first.worker_id, held=[task])
        self.assertEqual(lease_states(third.wait_for_welcome().leases), ["HELD"])


if __name__ == "__main__":
    unittest.main()
