"""Streams that break, workers that fall silent, brokers that end."""

import time
import unittest

import grpc

from support.case import SystemTest, slow
from support.client import broker_pb2, lease_request, new_id, reason_of
from support.process import GENEROUS_S
from support.stream import Producer, Worker, lease_states

LEASE_S = 1  # of workers that fall silent


@slow
class Faults(SystemTest):

    def setUp(self):
        super().setUp()
        self.broker, self.client = self.start("--auto-create-queues")

    def work(self, client=None, **options):
        worker = Worker(client or self.client, "q", **options)
        self.addCleanup(worker.break_off)
        return worker

    def test_what_was_committed_when_the_broker_was_killed_comes_again_uncharged(self):
        """Its commit comes after the hello of the next stream, which cannot name it."""
        self.assert_comes_again()

    @slow
    def test_what_was_committed_late_comes_again_uncharged(self):
        """The database is slow: the commit comes long after the hello."""
        self.assert_comes_again(late_s=3)

    def assert_comes_again(self, late_s=0):
        """The task is made before; hand_off_test.py has those that are leased as they are made."""
        self.broker, self.client = self.start("--auto-create-queues", "--no-hand-off")
        worker = self.work(credit=1)
        worker.wait_for_welcome()
        self.database.let_commits_wait("lease_ledger")
        lock = self.database.hold_commits("lease_ledger")
        self.client.enqueue("q", b"x")
        self.database.wait_for_lock_wait()
        self.broker.kill()
        other, client = self.start("--auto-create-queues")
        again = self.work(client, worker_id=worker.worker_id, credit=1, duration=120)
        again.wait_for_welcome()
        self.database.pass_time(late_s)
        lock.release()
        [task] = again.take()
        self.assertEqual((task.payload, task.attempt), (b"x", 1))
        self.assertEqual(again.ack(task), ["SETTLED"])
        other.wait_for_output(" serving ")

    def test_a_worker_goes_on_at_another_broker(self):
        for payload in (b"1", b"2"):
            self.client.enqueue("q", payload)
        worker = self.work(credit=2)
        tasks = worker.take(2)
        self.broker.kill()
        _, client = self.start("--auto-create-queues")
        again = self.work(client, worker_id=worker.worker_id, held=tasks, credit=2)
        self.assertEqual(lease_states(again.wait_for_welcome().leases), ["HELD"] * 2)
        self.assertEqual(again.ack(*tasks), ["SETTLED"] * 2)

    def test_an_open_stream_alone_does_not_keep_a_session(self):
        self.client.enqueue("q", b"x")
        silent = self.work(duration=LEASE_S, credit=2)
        [task] = silent.take()
        [again] = self.client.lease("q")
        self.assertEqual((again.task_id, again.attempt), (task.task_id, 2))
        self.assertEqual(reason_of(silent.refusal()), "SESSION_LOST")
        self.assertEqual([notice.lease_token for notice in silent.notices], [task.lease_token])

    def test_a_worker_without_heartbeats_gets_nothing_more(self):
        self.assert_gets_nothing_more(lambda worker: None)

    def test_a_heartbeat_that_is_refused_is_none(self):
        unreadable = broker_pb2.LeasedTask(lease_token=b"no token")
        self.assert_gets_nothing_more(
            lambda worker: self.assertTrue(worker.beat(unreadable).HasField("refusal")))

    def assert_gets_nothing_more(self, send):
        duration = 4 * LEASE_S
        worker = self.work(duration=duration)
        worker.wait_for_welcome()
        self.database.eventually(
            "SELECT count(*) FROM skiplane.worker_session "
            f"WHERE expire_time < now() + interval '{duration} s' * 0.4", wanted="1")
        self.client.enqueue("q", b"x")
        send(worker)
        worker.give_credit(1)
        self.assertEqual(reason_of(worker.refusal()), "SESSION_LOST")
        self.assertEqual(worker.tasks, [])
        self.assertEqual([task.attempt for task in self.client.lease("q")], [1])

    def test_a_beat_brings_the_worker_back_before_its_session_ends(self):
        worker = self.work(duration=LEASE_S, credit=1)
        worker.wait_for_welcome()
        for _ in range(5):
            self.assertTrue(worker.beat().response.session_alive)
        self.client.enqueue("q", b"x")
        self.assertEqual(worker.take()[0].attempt, 1)

    def test_tasks_that_were_not_sent_when_the_stream_broke_go_to_others(self):
        worker = self.work(credit=1)
        worker.wait_for_welcome()
        worker.break_off()
        self.client.enqueue("q", b"x")
        [task] = self.client.lease("q")
        self.assertEqual(task.attempt, 1)

    def test_a_broker_that_ends_says_so_and_answers_all(self):
        self.client.enqueue("q", b"x")
        worker, producer = self.work(credit=1), Producer(self.client)
        [task] = worker.take()
        self.assertEqual(worker.ack(task), ["SETTLED"])
        [number] = producer.enqueue(broker_pb2.EnqueueRequest(
            queue="other", tasks=[broker_pb2.NewTask()]))
        producer.answer(number)
        self.assertEqual(worker.withdraw_credit(credit=1), 0)  # so it has some
        self.broker.terminate()
        for stream in (worker, producer):
            error = stream.refusal()
            self.assertEqual(reason_of(error), "BROKER_DRAINING")
            self.assertIn("what was not answered was not done", error.details())
        self.assertEqual(self.broker.wait(), 0)

    def test_a_stream_outlives_a_database_that_is_away(self):
        worker = self.work(credit=1)
        worker.wait_for_welcome()
        self.database.refuse_writes()
        other = self.work()
        self.assertEqual(other.refusal().code().name, "UNAVAILABLE")
        self.assertEqual(worker.withdraw_credit(credit=1), 1)  # its Lease ends, refused
        self.assert_refused(worker)
        self.database.take_writes()
        end = time.monotonic() + GENEROUS_S
        while worker.beat().HasField("refusal"):
            self.assertLess(time.monotonic(), end)
        self.client.enqueue("q", b"x")
        [task] = worker.take()
        self.assertEqual(worker.ack(task), ["SETTLED"])

    def assert_refused(self, worker):
        """While nothing can be written each is refused alone."""
        self.assertEqual(worker.beat().refusal.code, grpc.StatusCode.UNAVAILABLE.value[0])

    def test_a_stream_and_calls_of_one_worker_share_its_session(self):
        worker_id = new_id()
        worker = self.work(worker_id=worker_id, credit=1)
        worker.wait_for_welcome()
        self.client.enqueue("q", b"1")
        [pushed] = worker.take()
        self.client.enqueue("q", b"2")
        answer = self.client.broker.Lease(lease_request("q", worker_id=worker_id, wait=60))
        [called] = answer.tasks
        beat = worker.beat(pushed, called)
        self.assertEqual(lease_states(beat.response.results), ["HELD"] * 2)
        self.assertEqual(worker.ack(called, pushed), ["SETTLED"] * 2)


if __name__ == "__main__":
    unittest.main()
