"""A call that is repeated, because its answer was lost, does its work once."""

import concurrent.futures
import time
import unittest

from support.by_http import ByHttp
from support.case import SystemTest
from support.client import DEADLINE_S, admin_pb2, attempts_of, broker_pb2
from support.packs import PACKING, TASKS, packed_count, put_packed
from support.process import GENEROUS_S

QUEUE, PACKED = "once", "packed"
MANY = [b"%d" % number for number in range(40)]  # payloads of tasks that share packs
LEASED = f"SELECT count(*) FROM {TASKS} WHERE state = 2"


def batch(*payloads, **fields):
    return [broker_pb2.NewTask(payload=payload, **fields) for payload in payloads]


class EnqueueOnce(SystemTest):
    def setUp(self):
        super().setUp()
        self.broker, self.client = self.start()
        self.other = self.client_of(self.start_broker())
        self.client.create_queue(QUEUE)
        self.client.create_queue(PACKED, **PACKING)

    def tasks(self):
        return self.database.number(f"SELECT count(*) FROM {TASKS}")

    def at_once(self, tasks, request_id="", queue=QUEUE):
        """The answers to 20 identical calls that meet in two brokers."""
        with concurrent.futures.ThreadPoolExecutor(20) as pool:
            calls = [pool.submit(client.enqueue_all, queue, tasks, request_id)
                     for client in [self.client, self.other] * 10]
            return [call.result() for call in calls]

    def test_a_repeat_by_key_makes_one_task_and_says_so(self):
        [first] = self.client.enqueue_all(QUEUE, batch(b"a", key="k"))
        [again] = self.client.enqueue_all(QUEUE, batch(b"b", key="k"))
        [elsewhere] = self.other.enqueue_all(QUEUE, batch(b"c", key="k"))
        self.assertEqual(first.outcome, broker_pb2.ENQUEUE_OUTCOME_CREATED)
        for result in (again, elsewhere):
            self.assertEqual((result.task_id, result.outcome),
                             (first.task_id, broker_pb2.ENQUEUE_OUTCOME_EXISTING))
        self.assertEqual(self.tasks(), 1)
        self.assertEqual(self.client.lease(QUEUE)[0].payload, b"a")

    def test_a_repeat_by_key_finds_the_task_while_it_runs_and_after_it_succeeded(self):
        [first] = self.client.enqueue_all(QUEUE, batch(b"a", key="k"))
        [task] = self.client.lease(QUEUE)
        self.assertEqual(self.client.enqueue(QUEUE, b"b", key="k"), first.task_id)
        self.client.ack(task)
        self.assertEqual(self.client.enqueue(QUEUE, b"b", key="k"), first.task_id)
        self.assertEqual(self.tasks(), 0)

    def test_one_key_twice_in_one_call_makes_one_task(self):
        first, second = self.client.enqueue_all(QUEUE, batch(b"a", b"b", key="k"))
        self.assertEqual(first.task_id, second.task_id)
        self.assertEqual(self.tasks(), 1)

    def test_a_key_belongs_to_its_queue(self):
        self.client.create_queue("another")
        one = self.client.enqueue(QUEUE, key="k")
        self.assertNotEqual(self.client.enqueue("another", key="k"), one)
        self.assertEqual(self.tasks(), 2)

    def test_a_repeat_by_request_id_gets_the_same_answer(self):
        tasks = batch(b"a", b"b", b"c")
        first = self.client.enqueue_all(QUEUE, tasks, "r")
        self.assertEqual(self.client.enqueue_all(QUEUE, tasks, "r"), first)
        self.assertEqual(self.other.enqueue_all(QUEUE, tasks, "r"), first)
        self.assertEqual(len({result.task_id for result in first}), 3)
        self.assertEqual(self.tasks(), 3)

    def test_a_repeat_by_request_id_makes_nothing_after_the_tasks_are_done(self):
        first = self.client.enqueue(QUEUE, b"a", request_id="r")
        self.client.ack(*self.client.lease(QUEUE))
        self.assertEqual(self.client.enqueue(QUEUE, b"a", request_id="r"), first)
        self.assertEqual(self.tasks(), 0)

    def let_both_pack(self):
        """They know that they may. How many tasks there are then."""
        return sum(len(put_packed(self.database, client, PACKED, MANY))
                   for client in (self.client, self.other))

    def test_a_repeat_by_request_id_makes_no_packed_task_again(self):
        before = self.let_both_pack()
        tasks = batch(*MANY)
        first = self.client.enqueue_all(PACKED, tasks, "r")
        self.assertEqual(packed_count(self.database), before + len(MANY))
        self.assertEqual(self.client.enqueue_all(PACKED, tasks, "r"), first)
        self.assertEqual(self.other.enqueue_all(PACKED, tasks, "r"), first)
        self.assertEqual(len({result.task_id for result in first}), len(MANY))
        self.assertEqual(self.tasks(), before + len(MANY))
        while self.tasks():
            leased = self.client.lease(PACKED, max_tasks=100)
            self.assertEqual(set(self.client.ack(*leased)), {"SETTLED"})
        self.assertEqual(self.other.enqueue_all(PACKED, tasks, "r"), first)
        self.assertEqual(self.tasks(), 0)

    def test_a_request_id_with_another_body_is_refused(self):
        self.client.enqueue(QUEUE, b"a", request_id="r")
        before = self.database.picture()
        for client in (self.client, self.other):
            self.assert_refused("ALREADY_EXISTS", "REQUEST_ID_REUSED", client.enqueue, QUEUE, b"b",
                                request_id="r")
            self.assert_refused("ALREADY_EXISTS", "REQUEST_ID_REUSED", client.enqueue_all, QUEUE,
                                batch(b"a", b"a"), "r")
            self.assert_refused("ALREADY_EXISTS", "REQUEST_ID_REUSED", client.enqueue, QUEUE, b"a",
                                request_id="r", priority=1)
        self.assertEqual(self.database.picture(), before)
        self.client.enqueue(QUEUE, b"b", request_id="r2")

    def test_twenty_identical_calls_at_two_brokers_make_one_set(self):
        answers = self.at_once(batch(b"a", b"b", b"c"), "r")
        for answer in answers:
            self.assertEqual(answer, answers[0])
        self.assertEqual(self.tasks(), 3)

    def test_twenty_identical_calls_of_packed_tasks_at_two_brokers_make_one_set(self):
        before = self.let_both_pack()
        answers = self.at_once(batch(*MANY), "r", PACKED)
        for answer in answers:
            self.assertEqual(answer, answers[0])
        self.assertEqual(packed_count(self.database), before + len(MANY))
        self.assertEqual(self.tasks(), before + len(MANY))

    def test_twenty_calls_with_the_same_keys_at_two_brokers_make_one_set(self):
        tasks = [broker_pb2.NewTask(key=f"k{number}") for number in range(50)]
        answers = self.at_once(tasks)
        ids = {tuple(result.task_id for result in answer) for answer in answers}
        self.assertEqual(len(ids), 1)
        created = [result for answer in answers for result in answer
                   if result.outcome == broker_pb2.ENQUEUE_OUTCOME_CREATED]
        self.assertEqual(len(created), 50)
        self.assertEqual(self.tasks(), 50)


class LeaseOnce(SystemTest):
    def setUp(self):
        super().setUp()
        self.broker, self.client = self.start()
        self.client.create_queue(QUEUE)
        self.client.enqueue_all(QUEUE, batch(b"a", b"b", b"c", b"d"))

    def put_packed(self):
        """In a queue of their own."""
        self.client.create_queue(PACKED, **PACKING)
        put_packed(self.database, self.client, PACKED, MANY)

    def lease(self, client, request_id, queue=QUEUE, **fields):
        fields = {"max_tasks": 2, "worker_id": "w", "request_id": request_id, **fields}
        return attempts_of(client.lease(queue, **fields))

    def assert_same_leases(self, queue):
        first = self.lease(self.client, "r", queue)
        self.assertEqual(len(first), 2)
        self.assertEqual(self.lease(self.client, "r", queue), first)
        self.assertEqual(self.lease(self.client_of(self.start_broker()), "r", queue), first)
        self.assertEqual(self.database.number(f"SELECT sum(attempt) FROM {TASKS}"), 2)

    def test_a_repeated_lease_gets_the_same_leases(self):
        self.assert_same_leases(QUEUE)

    def test_a_repeated_lease_of_packed_tasks_gets_the_same_leases(self):
        self.put_packed()
        self.assert_same_leases(PACKED)

    def assert_same_leases_after_sigkill(self, queue):
        first = self.lease(self.client, "r", queue)
        self.broker.kill()
        client = self.client_of(self.start_broker())
        self.assertEqual(self.lease(client, "r", queue), first)
        tasks = client.lease(queue, max_tasks=2, worker_id="w", request_id="r")
        self.assertEqual(client.ack(*tasks), ["SETTLED", "SETTLED"])

    def test_a_repeated_lease_gets_the_same_leases_from_the_next_broker_after_sigkill(self):
        self.assert_same_leases_after_sigkill(QUEUE)

    def test_a_repeated_lease_of_packed_tasks_gets_the_same_leases_after_sigkill(self):
        self.put_packed()
        self.assert_same_leases_after_sigkill(PACKED)

    def assert_late_commit_is_found(self, queue):
        self.database.let_commits_wait("lease_ledger")
        lock = self.database.hold_commits("lease_ledger")
        request = {"max_tasks": 4, "worker_id": "w", "request_id": "r"}
        first = self.client.lease_later(queue, **request)
        self.database.wait_for_lock_wait()
        self.broker.kill()
        self.assertIsNotNone(first.exception())
        other = self.start_broker()
        again = self.client_of(other).lease_later(queue, **request)
        self.wait_for_look(other)
        lock.release()
        self.database.eventually(LEASED, "4")
        other.terminate()  # which ends the wait
        self.assertEqual(len(again.result().tasks), 4)

    def test_a_repeat_that_waits_gets_what_the_first_call_commits_later(self):
        """It was told of nothing, and the task stayed with a worker that had never seen it."""
        self.assert_late_commit_is_found(QUEUE)

    def test_a_repeat_that_waits_gets_packed_tasks_that_the_first_call_commits_later(self):
        self.client.create_queue(PACKED, **PACKING)
        put_packed(self.database, self.client, PACKED, MANY[:16])
        [*rest] = self.client.lease(PACKED, max_tasks=12)  # else the repeat gets others at once
        self.assertEqual(len(rest), 12)
        self.client.ack(*rest)
        self.assert_late_commit_is_found(PACKED)

    def wait_for_look(self, broker):
        """The one at the beginning of the wait."""
        end = time.monotonic() + GENEROUS_S
        looks = 'skiplane_db_statement_seconds_count{statement="lease_known"}'
        while not broker.metrics().get(looks):
            self.assertLess(time.monotonic(), end, "nobody looks")

    def test_another_request_or_another_worker_gets_other_tasks(self):
        first = self.lease(self.client, "r")
        others = (self.lease(self.client, "r2", max_tasks=1)
                  + self.lease(self.client, "r", max_tasks=1, worker_id="w2"))
        self.assertEqual(len({task_id for task_id, _ in first + others}), 4)

    def assert_repeat_gets_what_is_held(self, queue):
        tasks = self.client.lease(queue, max_tasks=2, worker_id="w", request_id="r")
        self.client.ack(tasks[0])
        self.assertEqual(self.lease(self.client, "r", queue), attempts_of(tasks[1:]))

    def test_a_repeat_gets_what_is_still_held(self):
        self.assert_repeat_gets_what_is_held(QUEUE)

    def test_a_repeat_gets_what_is_still_held_of_packed_tasks(self):
        self.put_packed()
        self.assert_repeat_gets_what_is_held(PACKED)

    def assert_old_tokens_hold(self, queue):
        tasks = self.client.lease(queue, max_tasks=2, worker_id="w", request_id="r")
        for task in tasks:  # which changes the row, and so where it is
            self.client.admin.PrioritizeTask(admin_pb2.PrioritizeTaskRequest(
                task_id=task.task_id, priority=7), timeout=DEADLINE_S)
        again = self.client.lease(queue, max_tasks=2, worker_id="w", request_id="r")
        self.assertEqual(attempts_of(again), attempts_of(tasks))
        again.sort(key=lambda task: task.task_id != tasks[0].task_id)
        self.assertNotEqual([task.lease_token for task in again],
                            [task.lease_token for task in tasks])
        self.assertEqual(self.client.ack(tasks[0], again[1]), ["SETTLED"] * 2)
        self.assertEqual(self.client.ack(again[0], tasks[1]), ["ALREADY_SETTLED"] * 2)

    def test_a_repeat_may_bring_other_tokens_and_the_old_ones_hold(self):
        self.assert_old_tokens_hold(QUEUE)

    def test_a_repeat_may_bring_other_tokens_and_those_of_packed_tasks_hold(self):
        self.put_packed()
        self.assert_old_tokens_hold(PACKED)

    def assert_lost_leases_are_not_repeated(self, queue):
        first = self.lease(self.client, "r", queue)
        self.database.expire_sessions()
        self.database.eventually(LEASED, "0")
        again = self.lease(self.client, "r", queue)
        self.assertEqual(len(again), 2)
        self.assertFalse(set(first) & set(again))

    def test_a_repeat_after_the_leases_were_lost_gets_new_ones(self):
        self.assert_lost_leases_are_not_repeated(QUEUE)

    def test_a_repeat_after_the_leases_of_packed_tasks_were_lost_gets_new_ones(self):
        self.put_packed()
        self.assert_lost_leases_are_not_repeated(PACKED)

    def test_two_callers_without_a_worker_do_not_share_an_id(self):
        for _ in range(2):
            self.assert_refused("INVALID_ARGUMENT", "INVALID_FIELD", self.lease, self.client, "1",
                                worker_id="")
        self.assert_nothing_leased()


class LeaseOnceByHttp(ByHttp, LeaseOnce):
    pass


if __name__ == "__main__":
    unittest.main()
