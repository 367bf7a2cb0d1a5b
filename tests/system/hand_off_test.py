"""Tasks that a waiting worker gets by the statement that makes them."""

import time
import unittest

from fault_network_test import QUEUE, LostAnswers
from support.case import leases_begun, slow
from support.client import DEADLINE_S, broker_pb2, new_id, seconds
from support.process import GENEROUS_S
from support.stream import Worker, outcome_of, release_of
from work_stream_test import Streams

HANDED_OFF = "skiplane_handed_off_tasks_total"


def enqueue_request(queue):
    return broker_pb2.EnqueueRequest(queue=queue, tasks=[broker_pb2.NewTask()],
                                     request_id=new_id())


class SwitchedOn:
    """Also where the environment of all tests has it switched off."""

    def start_broker(self, *flags, **options):
        return super().start_broker("--no-hand-off=false", *flags, **options)


@slow
class HandOff(SwitchedOn, Streams):

    def handed_off(self, broker=None):
        return (broker or self.broker).metrics()[HANDED_OFF]

    def until_handed_off(self, put, undo=lambda got: None, broker=None):
        """The lane stage is known to be empty once a probe has told so, and not while one asks."""
        end = time.monotonic() + GENEROUS_S
        before = self.handed_off(broker)
        while True:
            got = put()
            if self.handed_off(broker) > before:
                return got
            undo(got)
            self.assertLess(time.monotonic(), end)

    def put(self, worker, payload=b"x", **fields):
        task_id = self.client.enqueue("q", payload, **fields)
        [task] = worker.take()
        self.assertEqual(task.task_id, task_id)
        self.assertEqual(worker.ack(task, credit=1), ["SETTLED"])
        return task

    def waiting(self, **options):
        """A worker that waits at a lane stage that is known to be empty."""
        worker = self.work(**{"credit": 1, **options})
        self.until_handed_off(lambda: self.put(worker))
        return worker

    def test_a_waiting_worker_gets_it(self):
        worker = self.work(credit=1)
        for number in range(3):
            task = self.until_handed_off(
                lambda: self.put(worker, b"%d" % number, request_id=new_id()))
            self.assertEqual((task.payload, task.attempt), (b"%d" % number, 1))

    def test_it_is_the_task_that_a_lease_would_have_brought(self):
        worker = self.work(credit=1)

        def put():
            self.client.enqueue("q", b"p", content_type="text/plain", priority=3, max_attempts=7,
                                headers={"b": "2", "a": "\u00e9"})
            return worker.take()[0]
        handed = self.until_handed_off(put, lambda task: worker.ack(task, credit=1))
        self.assertEqual(self.client.queue("q").counts.leased_count, 1)
        number = worker.settle(release_of(handed), credit=1)[0]
        [leased] = worker.take()
        self.assertEqual(outcome_of(worker.result(number)), "SETTLED")
        self.assertNotEqual(handed.lease_token, leased.lease_token)
        for task in (handed, leased):
            task.ClearField("lease_token")
        self.assertEqual(handed, leased)

    def test_what_is_more_than_the_credit_waits_in_order(self):
        worker = self.work(credit=1)

        def put():
            tasks = [self.client.new_task(b"%d" % priority, priority=priority)
                     for priority in (5, -1, 0)]
            results = self.client.enqueue_all("q", tasks)
            return worker.take()[0], [results[place].task_id for place in (1, 2, 0)]

        def take_all(got):
            worker.give_credit(2)
            worker.ack(got[0], *worker.take(2), credit=1)
        first, order = self.until_handed_off(put, take_all)
        self.assertEqual([self.client.state(task) for task in order],
                         ["LEASED", "READY", "READY"])
        worker.give_credit(2)
        self.assertEqual([task.task_id for task in [first, *worker.take(2)]], order)

    def test_of_several_lanes_in_one_statement(self):
        self.client.create_queue("wide", lane_count=4)
        worker = self.work("wide", credit=20)
        worker.wait_for_welcome()

        def put():
            lock = self.database.hold_writes()
            one = self.client.broker.Enqueue.future(enqueue_request("wide"), timeout=DEADLINE_S)
            self.database.wait_for_lock_wait()
            rest = [self.client.broker.Enqueue.future(enqueue_request("wide"), timeout=DEADLINE_S)
                    for _ in range(19)]
            lock.release()
            made = {call.result().results[0].task_id for call in [one, *rest]}
            tasks = worker.take(20)
            self.assertEqual({task.task_id for task in tasks}, made)
            self.assertEqual(set(worker.ack(*tasks, credit=20)), {"SETTLED"})
        self.until_handed_off(put)
        self.assertEqual(self.client.queue("wide").counts.leased_count, 0)

    def test_a_repeat_leases_nothing(self):
        worker = self.work(credit=1)

        def put():
            name = new_id()
            ids = {self.client.enqueue("q", b"r", request_id=name) for _ in range(2)}
            [task] = worker.take()
            self.assertEqual(worker.ack(task, credit=1), ["SETTLED"])
            ids.add(self.client.enqueue("q", b"r", request_id=name))
            self.assertEqual(ids, {task.task_id})
        self.until_handed_off(put)
        self.put(worker)  # it waits still

    def test_not_what_is_for_later_or_has_a_key(self):
        worker = self.waiting()
        before = self.handed_off()
        later = self.client.enqueue("q", delay=seconds(100))
        self.assertEqual(self.client.state(later), "SCHEDULED")
        self.put(worker, key="k")
        self.assertEqual(self.handed_off(), before)

    def test_nothing_of_a_paused_queue(self):
        self.waiting()
        self.client.pause("q")
        task = self.client.enqueue("q")
        self.assertEqual(self.client.state(task), "READY")

    def test_nobody_gets_it_whose_session_has_ended(self):
        """The broker believes that it lives: the statement looks."""
        self.waiting()
        before = self.handed_off()
        self.database.expire_sessions()
        task = self.client.enqueue("q", b"again")
        self.assertEqual(self.handed_off(), before)
        [again] = self.work(credit=1).take()
        self.assertEqual(again.task_id, task)

    def test_what_a_dead_worker_got_is_taken_back(self):
        worker = self.waiting()
        task = self.client.enqueue("q")
        worker.take()
        self.assertEqual(self.client.state(task), "LEASED")
        worker.break_off()
        self.database.expire_sessions()
        [again] = self.work(credit=1).take()
        self.assertEqual((again.task_id, again.attempt), (task, 2))

    def test_what_a_killed_broker_could_not_push_comes_again_uncharged(self):
        """The commit comes after the hello of the next stream, which cannot name it."""
        worker = self.waiting()
        self.database.let_commits_wait("lease_ledger")
        lock = self.database.hold_commits("lease_ledger")
        lost = self.client.broker.Enqueue.future(enqueue_request("q"), timeout=DEADLINE_S)
        self.database.wait_for_lock_wait()
        self.broker.kill()
        lost.exception()
        _, client = self.start("--auto-create-queues")
        again = self.work(client=client, worker_id=worker.worker_id, credit=1, duration=120)
        again.wait_for_welcome()
        lock.release()
        [task] = again.take()
        self.assertEqual(task.attempt, 1)
        self.assertEqual(again.ack(task), ["SETTLED"])

    def test_a_call_that_waits_gets_it_too(self):
        """Its session lives long enough still, as it has just leased."""
        self.client.create_queue("q")

        self.until_handed_off(self.put_for_another)

    def test_a_repeat_of_a_call_gets_the_same(self):
        self.client.create_queue("q")
        _, other = self.start()

        def put():
            lease = {"worker_id": "w", "request_id": new_id()}
            call = self.client.lease_later("q", **lease)
            made = self.client.enqueue("q")
            [task] = call.result().tasks
            self.assertEqual(task.task_id, made)
            for client in (self.client, other):
                [again] = client.lease("q", **lease)
                self.assertEqual(again, task)
            self.client.ack(task)
        self.until_handed_off(put)

    def test_a_repeat_at_another_broker_gets_nothing_new(self):
        """Found by a look, or as the hand-off is refused: what was for it is ready for others."""
        self.client.create_queue("q")
        _, other = self.start()
        lease = {"worker_id": "w", "request_id": new_id()}
        first = other.enqueue("q")
        [held] = other.lease("q", **lease)
        self.until_handed_off(self.put_for_another)
        repeat = self.client.lease_later("q", **lease)
        second = self.client.enqueue("q")
        [task] = repeat.result().tasks
        self.assertEqual((held.task_id, task.lease_token), (first, held.lease_token))
        [rest] = self.client.lease("q")
        self.assertEqual(rest.task_id, second)

    def put_for_another(self, client=None):
        client = client or self.client
        call = client.lease_later("q", worker_id="other")
        client.enqueue("q")
        client.ack(*call.result().tasks)

    def test_a_lease_that_is_about_to_commit_elsewhere_fails_no_enqueue(self):
        """It was refused, once the hand-off had waited two seconds for the request id."""
        self.client.create_queue("q")
        broker, other = self.start()
        self.until_handed_off(self.put_for_another)
        self.until_handed_off(lambda: self.put_for_another(other), broker=broker)
        self.database.let_commits_wait("lease_ledger")
        lock = self.database.hold_commits("lease_ledger")
        lease = {"worker_id": "other", "request_id": new_id()}
        first = self.client.lease_later("q", **lease)
        begun = leases_begun(broker)
        repeat = other.lease_later("q", **lease)
        end = time.monotonic() + GENEROUS_S
        while leases_begun(broker) == begun:
            self.assertLess(time.monotonic(), end)
        made = self.client.broker.Enqueue.future(enqueue_request("q"), timeout=DEADLINE_S)
        self.database.wait_for_lock_wait()
        second = other.broker.Enqueue.future(enqueue_request("q"), timeout=DEADLINE_S)
        self.database.eventually("SELECT count(*) > 0 FROM pg_stat_activity WHERE wait_event ="
                                 " 'transactionid' AND datname = current_database()")
        self.assertTrue(second.result().results[0].task_id)
        lock.release()
        [task] = first.result().tasks
        self.assertEqual(task.task_id, made.result().results[0].task_id)
        self.assertEqual(list(repeat.result().tasks), [task])

    def test_it_can_be_switched_off(self):
        broker, client = self.start("--no-hand-off", "--auto-create-queues")
        worker = self.work(client=client, credit=1)
        for _ in range(5):
            client.enqueue("q")
            self.assertEqual(worker.ack(*worker.take(), credit=1), ["SETTLED"])
        self.assertEqual(self.handed_off(broker), 0)


class LostHandOff(SwitchedOn, LostAnswers):
    """Committed, and the answer lost."""

    def test_the_worker_gets_it_once(self):
        worker = Worker(self.client, QUEUE, credit=1)
        self.addCleanup(worker.break_off)
        self.proxy.swallow_next("task_enqueue_leased")
        end = time.monotonic() + GENEROUS_S
        while not self.proxy.has_swallowed():
            name = new_id()
            task_id = self.repeat(lambda: self.client.enqueue(QUEUE, request_id=name))
            [task] = worker.take()
            self.assertEqual((task.task_id, task.attempt), (task_id, 1))
            self.assertEqual(worker.ack(task, credit=1), ["SETTLED"])
            self.assertEqual(self.client.enqueue(QUEUE, request_id=name), task_id)
            self.assertLess(time.monotonic(), end)
        self.assert_tasks(0)


if __name__ == "__main__":
    unittest.main()
