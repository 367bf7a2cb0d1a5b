"""Faults of the network between a broker and PostgreSQL: a black hole, an answer that is lost after
its commit, a listener that hears nothing any more."""

import time
import unittest

import grpc

from support import cluster
from support.case import slow
from support.client import DEADLINE_S, attempts_of, broker_pb2, new_id, reason_of
from support.fault import FaultTest
from support.packs import ATTEMPTS, PACKING, TASKS, packed_count, put_packed
from support.process import GENEROUS_S

QUEUE, PACKED = "lost", "packed"
MANY = 20


@slow
class BlackHole(FaultTest):
    def test_a_black_hole_with_statements_in_flight(self):
        broker, proxy = self.start_behind_proxy(cluster.shared())
        self.begin(broker, tolerated=["DEADLINE_EXCEEDED"])
        proxy.open_hole()
        self.assert_unready()
        self.load.wait_for_refusal("UNAVAILABLE", 5)
        proxy.close_hole()
        self.recover()


@slow
class DeafListener(FaultTest):
    def test_a_listener_whose_connection_died_without_a_sign(self):
        near, proxy = self.start_behind_proxy(cluster.shared())
        near_client, far_client = self.client_of(near), self.client_of(self.start_broker())
        near_client.create_queue(QUEUE)
        proxy.wait_until_said(b"LISTEN")
        parked = near_client.lease_later(QUEUE, wait=60)
        self.assertGreater(proxy.lose(b"LISTEN"), 0)
        far_client.enqueue(QUEUE, b"from elsewhere")
        [task] = parked.result().tasks
        self.assertEqual(task.payload, b"from elsewhere")
        self.assertEqual(near_client.ack(task), ["SETTLED"])
        proxy.wait_until_said(b"LISTEN")  # by a new connection


class LostAnswers(FaultTest):
    def setUp(self):
        super().setUp()
        self.broker, self.proxy = self.start_behind_proxy(cluster.shared())
        self.client = self.client_of(self.broker)
        self.client.create_queue(QUEUE)

    def lose_answer_of(self, statement, call):
        self.proxy.swallow_next(statement)
        answer = self.repeat(call)
        self.proxy.wait_until_swallowed()
        self.assertTrue(self.broker.runs())
        return answer

    def repeat(self, call):
        """What `call` returned, when it was repeated as its refusals allow."""
        end = time.monotonic() + GENEROUS_S
        while True:
            try:
                return call()
            except grpc.RpcError as error:
                self.assertEqual((error.code().name, reason_of(error)),
                                 ("UNAVAILABLE", "DATABASE_UNAVAILABLE"), error)
                self.assertLess(time.monotonic(), end, error)

    def assert_tasks(self, count):
        self.assertEqual(self.database.number(f"SELECT count(*) FROM {TASKS}"), count)


class LostAnswer(LostAnswers):
    """The statement was committed and its answer lost. Which it was, the broker finds out."""

    def leased(self, **fields):
        self.client.enqueue(QUEUE, b"a")
        [task] = self.client.lease(QUEUE, worker_id="w", **fields)
        return task

    def test_of_an_enqueue(self):
        request = broker_pb2.EnqueueRequest(queue=QUEUE, tasks=[broker_pb2.NewTask()])
        self.proxy.swallow_next("task_enqueue")
        try:
            self.client.broker.Enqueue(request, timeout=DEADLINE_S)
        except grpc.RpcError as error:
            self.assertEqual((error.code().name, reason_of(error)),
                             ("UNKNOWN", "COMMIT_OUTCOME_UNKNOWN"), error)
        self.proxy.wait_until_swallowed()
        self.assert_tasks(1)

    def test_of_an_enqueue_with_a_key(self):
        task_id = self.lose_answer_of("task_enqueue_once",
                                      lambda: self.client.enqueue(QUEUE, key="k"))
        self.assertEqual(self.client.enqueue(QUEUE, key="k"), task_id)
        self.assert_tasks(1)

    def test_of_an_enqueue_with_a_request_id(self):
        task_id = self.lose_answer_of("task_enqueue_asked",
                                      lambda: self.client.enqueue(QUEUE, request_id="r"))
        self.assertEqual(self.client.enqueue(QUEUE, request_id="r"), task_id)
        self.assert_tasks(1)

    def test_of_an_enqueue_with_a_key_and_a_request_id(self):
        task_id = self.lose_answer_of("task_enqueue_once_asked",
                                      lambda: self.client.enqueue(QUEUE, key="k", request_id="r"))
        self.assertEqual(self.client.enqueue(QUEUE, key="k", request_id="r"), task_id)
        self.assert_tasks(1)

    def test_of_a_lease(self):
        self.client.enqueue(QUEUE, b"a")
        [task] = self.lose_answer_of("task_lease",
                                     lambda: self.client.lease(QUEUE, worker_id="w"))
        self.assertEqual((task.payload, task.attempt), (b"a", 1))
        self.assertEqual(self.client.ack(task), ["SETTLED"])

    def test_of_a_lease_with_a_request_id(self):
        self.client.enqueue(QUEUE, b"a")
        fields = {"worker_id": "w", "request_id": new_id()}
        [task] = self.lose_answer_of("task_lease", lambda: self.client.lease(QUEUE, **fields))
        self.assertEqual((task.payload, task.attempt), (b"a", 1))
        [again] = self.client.lease(QUEUE, **fields)
        self.assertEqual((again.task_id, again.attempt), (task.task_id, task.attempt))

    def test_of_an_ack(self):
        task = self.leased()
        [outcome] = self.lose_answer_of("task_ack", lambda: self.client.ack(task))
        self.assertEqual(outcome, "SETTLED")
        self.assert_tasks(0)
        self.assertEqual(self.database.number("SELECT count(*) FROM skiplane.history"), 1)

    def test_of_a_nack(self):
        task = self.leased()
        result = self.lose_answer_of("task_settle", lambda: self.client.nack(task))
        self.assertEqual(result.outcome, broker_pb2.SETTLE_OUTCOME_SETTLED)
        self.assertEqual(self.client.state(task.task_id), "SCHEDULED")
        self.assertEqual(self.database.number("SELECT count(*) FROM skiplane.history"), 1)

    def test_of_a_heartbeat(self):
        task = self.leased()
        answer = self.lose_answer_of("session_renew", lambda: self.client.heartbeat("w", 30, task))
        self.assertTrue(answer.session_alive)
        self.assertEqual(self.client.ack(task), ["SETTLED"])

    def test_of_the_making_of_a_queue(self):
        queue = self.lose_answer_of("queue_create", lambda: self.client.create_queue("new"))
        self.assertEqual(queue.name, "new")
        self.client.enqueue("new")


class LostAnswerOfPacks(LostAnswers):
    def setUp(self):
        super().setUp()
        self.client.create_queue(PACKED, **PACKING)
        self.payloads = [b"%d" % number for number in range(MANY)]
        self.task_ids = put_packed(self.database, self.client, PACKED, self.payloads)

    def enqueue(self, request_id):
        return self.client.enqueue_all(
            PACKED, [self.client.new_task(payload) for payload in self.payloads], request_id)

    def lease(self, **fields):
        return self.client.lease(PACKED, **{"worker_id": "w", "max_tasks": 5, **fields})

    def assert_first(self, tasks, count=5):
        self.assertEqual([(task.task_id, task.payload, task.attempt) for task in tasks],
                         [(self.task_ids[i], self.payloads[i], 1) for i in range(count)])

    def assert_attempts(self, count):
        self.assertEqual(self.database.run(f"SELECT count(*), max(attempt) FROM {ATTEMPTS}"),
                         [(str(count), "1")])

    def test_of_an_enqueue(self):
        self.proxy.swallow_next("task_enqueue_packed")
        try:
            self.enqueue("")
        except grpc.RpcError as error:
            self.assertEqual((error.code().name, reason_of(error)),
                             ("UNKNOWN", "COMMIT_OUTCOME_UNKNOWN"), error)
        self.proxy.wait_until_swallowed()
        self.assertEqual(packed_count(self.database), 2 * MANY)

    def test_of_an_enqueue_with_a_request_id(self):
        made = self.lose_answer_of("task_enqueue_packed", lambda: self.enqueue("r"))
        self.assertEqual(self.enqueue("r"), made)
        self.assertEqual(packed_count(self.database), 2 * MANY)
        self.assert_tasks(2 * MANY)

    def test_of_a_lease(self):
        tasks = self.lose_answer_of("task_lease_packed", self.lease)
        self.assert_first(tasks)
        self.assertEqual(self.client.ack(*tasks), ["SETTLED"] * 5)
        self.assert_attempts(5)

    def test_of_a_lease_with_a_request_id(self):
        fields = {"request_id": new_id()}
        tasks = self.lose_answer_of("task_lease_packed", lambda: self.lease(**fields))
        self.assert_first(tasks)
        again = self.lease(**fields)
        self.assertEqual(attempts_of(again), attempts_of(tasks))
        self.assertEqual(self.client.ack(*again), ["SETTLED"] * 5)

    def test_of_an_ack_of_a_part_and_of_all(self):
        tasks = self.lease(max_tasks=MANY)
        self.assert_first(tasks, MANY)
        for part in (tasks[::2], tasks[1::2]):
            answers = self.lose_answer_of("task_ack_packed", lambda acked=part:
                                          self.client.ack(*acked))
            self.assertEqual(answers, ["SETTLED"] * len(part))
            self.assertEqual(self.client.ack(*part), ["ALREADY_SETTLED"] * len(part))
        self.assert_tasks(0)
        self.assert_attempts(MANY)

    def test_of_a_nack(self):
        """The task has a row before it is settled."""
        for number, statement in enumerate(("task_unpack", "task_settle")):
            tasks = self.lease()
            result = self.lose_answer_of(statement, lambda nacked=tasks[0]:
                                         self.client.nack(nacked))
            self.assertEqual(result.outcome, broker_pb2.SETTLE_OUTCOME_SETTLED)
            self.assertEqual(self.client.state(tasks[0].task_id), "SCHEDULED")
            self.assertEqual(self.client.ack(*tasks[1:]), ["SETTLED"] * 4)
            self.assert_tasks(MANY - 4 * (number + 1))
            self.assert_attempts(5 * (number + 1))

    def test_of_a_heartbeat(self):
        tasks = self.lease()
        answer = self.lose_answer_of("session_renew",
                                     lambda: self.client.heartbeat("w", 30, *tasks))
        self.assertTrue(answer.session_alive)
        self.assertEqual(self.client.ack(*tasks), ["SETTLED"] * 5)


if __name__ == "__main__":
    unittest.main()
