"""The broker's memory is bounded: what does not fit is refused, with a hint when to come again, and
what was accepted is there."""

import os
import unittest
from concurrent.futures import ThreadPoolExecutor

import grpc

from support.case import SystemTest
from support.client import (DEADLINE_S, Client, broker_pb2, error_details_pb2, reason_of,
                            status_pb2)

QUEUE = "large"
CLIENTS = 64
ROUNDS = 4
POLLS = 1000
POLLS_PER_CONNECTION = 100
RSS_MAX = 400 << 20
PAYLOAD = os.urandom(1000 << 10)
TASKS_PER_CALL = 4  # nearly 4 MiB


def retry_delay(error):
    """The hint of a grpc.RpcError, in seconds; None if it has none."""
    for key, value in error.trailing_metadata() or ():
        if key == "grpc-status-details-bin":
            for detail in status_pb2.Status.FromString(value).details:
                hint = error_details_pb2.RetryInfo()
                if detail.Unpack(hint):
                    return hint.retry_delay.ToTimedelta().total_seconds()
    return None


def peak_rss(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        line = next(line for line in status if line.startswith("VmHWM:"))
    return int(line.split()[1]) << 10


def is_sanitized(pid):
    with open(f"/proc/{pid}/maps", encoding="utf-8") as maps:
        return "libasan" in maps.read()


class Memory(SystemTest):
    def setUp(self):
        super().setUp()
        self.broker, self.client = self.start()
        self.client.create_queue(QUEUE, payload_bytes_max=1 << 20)
        self.client.create_queue("idle")

    def park_all(self):
        crowd = [self.client_of(self.broker) for _ in range(POLLS // POLLS_PER_CONNECTION)]
        return [crowd[i % len(crowd)].lease_later("idle", worker_id=f"w{i}")
                for i in range(POLLS)]

    def send_rounds(self, number):
        """How many calls were answered, and the refusals."""
        client = Client(self.broker.address)
        self.addCleanup(client.close)
        request = broker_pb2.EnqueueRequest(
            queue=QUEUE, tasks=[broker_pb2.NewTask(payload=PAYLOAD)] * TASKS_PER_CALL)
        accepted, refusals = 0, []
        for _ in range(ROUNDS):
            try:
                client.broker.Enqueue(request, timeout=DEADLINE_S)
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
            self.assertGreater(retry_delay(error), 0)
        self.assertEqual(self.database.run("SELECT count(*) FROM skiplane.task"),
                         [(str(accepted * TASKS_PER_CALL),)])
        if not is_sanitized(self.broker.pid):
            self.assertLess(peak_rss(self.broker.pid), RSS_MAX)

        self.assertFalse(any(call.done() for call in parked))
        self.client.enqueue("idle", b"at last")
        self.client.enqueue(QUEUE, b"one more")
        for call in parked:
            call.cancel()


if __name__ == "__main__":
    unittest.main()
