"""Who may say what on a stream: the rules count for each message, and for what is pushed."""

import base64
import unittest

import grpc

from support.case import slow
from support.client import Client, broker_pb2, reason_of
from support.rules_case import OTHER, OWN, RulesTest
from support.stream import Producer, Worker, ack_of, outcome_of


def request(queue):
    return broker_pb2.EnqueueRequest(queue=queue, tasks=[broker_pb2.NewTask(payload=b"x")])


@slow
class Access(RulesTest):
    TOKENS = ("worker", "producer", "stranger")
    RULES = f"""
allow token:worker to lease on {OWN}
allow token:producer to enqueue on {OWN}
allow token:stranger to lease on nowhere
"""

    def setUp(self):
        super().setUp()
        self.client = Client(self.broker.address)
        self.addCleanup(self.client.close)

    def work(self, who, queue=OWN, **options):
        worker = Worker(self.client, queue, token=self.tokens.get(who, who), **options)
        self.addCleanup(worker.break_off)
        return worker

    def produce(self, who):
        producer = Producer(self.client, token=self.tokens[who])
        self.addCleanup(producer.break_off)
        return producer

    def replace(self, name, text):
        seen = self.broker.output.count(" reloaded ")
        self.files.write(name, text)
        self.broker.wait_for_output(" reloaded ", times=seen + 1)

    def withdraw(self):
        """The worker, as OPERATIONS says."""
        self.replace("rules", "allow token:root to all on *\n"
                              "allow token:worker to lease on withdrawn\n")

    def assert_ends(self, stream, code, reason):
        error = stream.refusal()
        self.assertEqual((error.code().name, reason_of(error)), (code, reason))

    def test_only_queues_that_the_caller_may_use(self):
        self.assert_ends(self.work("worker", OTHER), "PERMISSION_DENIED", "ACCESS_DENIED")
        self.assert_ends(self.work("producer"), "PERMISSION_DENIED", "ACCESS_DENIED")
        self.assert_ends(self.produce("worker"), "PERMISSION_DENIED", "ACCESS_DENIED")
        self.assert_ends(self.work("skt_unknown"), "UNAUTHENTICATED", "CREDENTIALS_INVALID")
        producer = self.produce("producer")
        own, other = producer.enqueue(request(OWN), request(OTHER))
        self.assertEqual(producer.answer(other).refusal.reason, "ACCESS_DENIED")
        self.assertEqual(len(producer.answer(own).response.results), 1)

    def test_the_log_names_who_may_not_begin_a_stream(self):
        self.assert_ends(self.work("producer"), "PERMISSION_DENIED", "ACCESS_DENIED")
        self.broker.wait_for_output("warn callers_refused principal=token:producer "
                                    "method=skiplane.v1.BrokerService/Work reason=ACCESS_DENIED\n")

    def test_follow_ups_need_the_right_to_enqueue(self):
        self.put(OWN)
        worker = self.work("worker", credit=1)
        [task] = worker.take()
        [number] = worker.settle(ack_of(task, follow_ups=[broker_pb2.NewTask(queue=OTHER)]))
        refused = worker.result(number).result
        self.assertEqual(refused.refusal.reason, "ACCESS_DENIED")
        self.assertEqual(worker.ack(task), ["SETTLED"])

    def test_a_lease_of_another_principal_is_none(self):
        self.put(OWN)
        self.replace("rules", f"allow token:root to all on *\nallow everyone to lease on {OWN}\n")
        [task] = self.work("worker", credit=1).take()
        thief = self.work("stranger")
        [number] = thief.settle(ack_of(task))
        self.assertEqual(outcome_of(thief.result(number)), "INVALID_LEASE_TOKEN")

    def test_a_right_that_is_taken_away_ends_the_stream_before_anything_is_pushed(self):
        worker = self.work("worker", credit=1)
        worker.wait_for_welcome()
        self.replace("rules", "allow token:root to all on *\n")
        self.put(OWN)
        self.assert_ends(worker, "PERMISSION_DENIED", "ACCESS_DENIED")
        self.assert_nothing_leased()

    def test_a_right_that_is_taken_away_ends_a_stream_to_which_nothing_is_pushed(self):
        worker = self.work("worker")
        worker.wait_for_welcome()
        self.replace("rules", "allow token:root to all on *\n"
                              f"allow token:worker to lease on {OTHER}\n")
        self.assertTrue(worker.beat().response.session_alive)
        self.assert_ends(worker, "PERMISSION_DENIED", "ACCESS_DENIED")

    def test_a_withdrawn_worker_settles_what_it_holds_and_gets_no_more(self):
        for _ in range(2):
            self.put(OWN)
        worker = self.work("worker", credit=3)
        first, second = worker.take(2)
        self.withdraw()
        self.put(OWN)
        self.assertEqual(worker.ack(first), ["SETTLED"])
        self.assertTrue(worker.beat().response.session_alive)
        self.assertEqual(worker.ack(second), ["SETTLED"])
        self.assert_ends(worker, "PERMISSION_DENIED", "ACCESS_DENIED")
        self.assertEqual(worker.tasks, [])
        lease = {"queues": [{"name": OWN}], "maxTasks": 3}
        self.assertEqual([task["attempt"] for task in
                          self.root("BrokerService/Lease", **lease)["tasks"]], [1])

    def test_a_withdrawn_worker_that_settles_by_a_call_is_told_by_its_next_heartbeat(self):
        self.put(OWN)
        worker = self.work("worker", credit=1)
        [task] = worker.take()
        self.withdraw()
        token = base64.b64encode(task.lease_token).decode()
        self.by_grpc("worker", "BrokerService/Ack", {"items": [{"leaseToken": token}]})
        worker.beat()
        self.assert_ends(worker, "PERMISSION_DENIED", "ACCESS_DENIED")

    def test_a_withdrawn_worker_that_may_work_again_gets_the_next_task(self):
        self.put(OWN)
        worker = self.work("worker", credit=2)
        [first] = worker.take()
        rules = self.files.read("rules").decode()
        self.withdraw()
        self.assertTrue(worker.beat().response.session_alive)
        self.replace("rules", rules)
        self.put(OWN)
        self.assertEqual(worker.ack(first), ["SETTLED"])
        self.assertEqual(len(worker.take()), 1)

    def test_a_token_that_is_withdrawn_ends_the_stream(self):
        producer = self.produce("producer")
        producer.answer(*producer.enqueue(request(OWN)))
        lines = self.files.read("tokens").decode().splitlines()
        self.replace("tokens", "\n".join(line for line in lines if "producer" not in line))
        producer.enqueue(request(OWN))
        self.assert_ends(producer, "UNAUTHENTICATED", "CREDENTIALS_INVALID")


if __name__ == "__main__":
    unittest.main()
