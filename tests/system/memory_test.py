"""The broker's memory is bounded: what does not fit is refused, with a hint when to come again, and
what was accepted is there."""

import os
import time
import unittest
from concurrent.futures import ThreadPoolExecutor

import grpc

from support import http2
from support.case import SystemTest
from support.client import broker_pb2, lease_request, reason_of, retry_delay_of
from support.process import GENEROUS_S

QUEUE = "large"
CLIENTS = 64
ROUNDS = 4
POLLS = 1000
POLLS_PER_CONNECTION = 100
RSS_MAX = 400 << 20
PAYLOAD = os.urandom(1000 << 10)
TASKS_PER_CALL = 4  # nearly 4 MiB
TASKS_UNREAD = 3    # nearly as much as one answer may hold
UNREAD_MAX = 48 << 20  # the limit, and a statement that was under way on each connection
LEASE = "/skiplane.v1.BrokerService/Lease"


class Memory(SystemTest):
    def setUp(self):
        super().setUp()
        self.broker, self.client = self.start()
        self.client.create_queue(QUEUE, max_payload_bytes=1 << 20)
        self.client.create_queue("idle")

    def park_all(self):
        clients = [self.client_of(self.broker) for _ in range(POLLS // POLLS_PER_CONNECTION)]
        return [clients[i % len(clients)].lease_later("idle", worker_id=f"w{i}")
                for i in range(POLLS)]

    def send_rounds(self, number):
        """How many calls were answered, and the refusals."""
        client = self.client_of(self.broker)
        tasks = [broker_pb2.NewTask(payload=PAYLOAD)] * TASKS_PER_CALL
        accepted, refusals = 0, []
        for _ in range(ROUNDS):
            try:
                client.enqueue_all(QUEUE, tasks)
                accepted += 1
            except grpc.RpcError as error:
                refusals.append(error)
        return accepted, refusals

    def test_large_requests_of_many_clients_beside_many_long_polls(self):
        parked = self.park_all()
        with ThreadPoolExecutor(CLIENTS) as pool:
            outcomes = list(pool.map(self.send_rounds, range(CLIENTS)))
        accepted = sum(count for count, _ in outcomes)
        refusals = [error for _, errors in outcomes for error in errors]

        self.assertGreater(accepted, 0)
        for error in refusals:
            self.assertEqual((error.code().name, reason_of(error)),
                             ("RESOURCE_EXHAUSTED", "TOO_MANY_CALLS"), error)
            self.assertGreater(retry_delay_of(error), 0)
        self.assertEqual(self.database.run("SELECT count(*) FROM skiplane.task"),
                         [(str(accepted * TASKS_PER_CALL),)])
        if not self.broker.is_sanitized():
            self.assertLess(self.broker.peak_rss(), RSS_MAX)

        self.assertFalse(any(call.done() for call in parked))
        self.client.enqueue("idle", b"at last")
        self.client.enqueue(QUEUE, b"one more")
        for call in parked:
            call.cancel()

    def test_callers_that_do_not_read_their_answers(self):
        body = http2.message(lease_request(QUEUE, max_tasks=TASKS_UNREAD, wait=60)
                             .SerializeToString())
        deaf = [http2.open_call(self.broker.address, LEASE, body) for _ in range(CLIENTS)]
        elsewhere = self.client_of(self.start_broker())
        refusal = self.enqueue_until_refused(elsewhere)
        self.assertEqual(reason_of(refusal), "TOO_MANY_CALLS")
        self.assertGreater(retry_delay_of(refusal), 0)
        self.assertLess(self.database.number("SELECT count(*) FROM skiplane.task WHERE state = 2")
                        * len(PAYLOAD), UNREAD_MAX)
        if not self.broker.is_sanitized():
            self.assertLess(self.broker.peak_rss(), RSS_MAX)

        waiting = self.client.lease_later(QUEUE, wait=60)
        for connection in deaf:
            connection.close()
        self.assertEqual(len(waiting.result().tasks), 1)

    def enqueue_until_refused(self, elsewhere):
        """The first refusal of a lease here, while more and more comes for the deaf callers."""
        batch = [broker_pb2.NewTask(payload=PAYLOAD)] * TASKS_UNREAD
        for _ in range(CLIENTS):
            elsewhere.enqueue_all(QUEUE, batch)
            refusal = self.refusal_of_a_lease()
            if refusal:
                return refusal
        end = time.monotonic() + GENEROUS_S
        while time.monotonic() < end:
            refusal = self.refusal_of_a_lease()
            if refusal:
                return refusal
        raise AssertionError("the broker goes on leasing")

    def refusal_of_a_lease(self):
        """What is leased here is handed back: a deaf caller is to have it."""
        try:
            tasks = self.client.lease(QUEUE, wait=0)
        except grpc.RpcError as error:
            return error
        for task in tasks:
            self.client.nack(task, "RELEASE")
        return None


if __name__ == "__main__":
    unittest.main()
