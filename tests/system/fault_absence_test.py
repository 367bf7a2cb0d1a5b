"""PostgreSQL is away for a minute while workers hold leases that are much shorter."""

import contextlib
import threading
import time
import unittest

import grpc

from support.case import slow
from support.fault import FaultTest
from support.packs import ATTEMPTS, PACKING, put_packed
from support.process import GENEROUS_S

QUEUE, PACKED = "patient", "packed"
ABSENT_S = 60
LEASE_S = 20
HEARTBEAT_EVERY_S = 1
WORKERS = 5  # of each queue


@slow
class Absence(FaultTest):
    own_cluster = ()

    def test_no_worker_is_declared_dead_before_it_could_beat_again(self):
        broker, client = self.start()
        client.create_queue(QUEUE)
        held = {}
        for number in range(WORKERS):
            client.enqueue(QUEUE)
            [held[f"w{number}"]] = client.lease(QUEUE, worker_id=f"w{number}", duration=LEASE_S)
        client.create_queue(PACKED, **PACKING)
        put_packed(self.database, client, PACKED, [b""] * 16)
        for number in range(WORKERS, 2 * WORKERS):  # who share a pack
            [held[f"w{number}"]] = client.lease(PACKED, worker_id=f"w{number}", duration=LEASE_S)
        self.cluster.stop_at_once()
        pace = threading.Event()
        end = time.monotonic() + ABSENT_S
        while time.monotonic() < end:
            for worker, task in held.items():
                with contextlib.suppress(grpc.RpcError):
                    client.heartbeat(worker, LEASE_S, task)
                    self.fail("there is a database")
            pace.wait(HEARTBEAT_EVERY_S)
        self.cluster.start()
        for worker, task in held.items():
            self.assertTrue(self.send_until_answered(client, worker, task).session_alive, worker)
        self.assertEqual(client.ack(*held.values()), ["SETTLED"] * 2 * WORKERS)
        outcomes = f"SELECT DISTINCT attempt, outcome FROM {ATTEMPTS}"
        self.assertEqual(self.database.run(outcomes), [("1", "1")])
        self.assertTrue(broker.runs())

    def send_until_answered(self, client, worker, task):
        end = time.monotonic() + GENEROUS_S
        while True:
            try:
                return client.heartbeat(worker, LEASE_S, task)
            except grpc.RpcError as error:
                self.assertEqual(error.code(), grpc.StatusCode.UNAVAILABLE)
                self.assertLess(time.monotonic(), end)


if __name__ == "__main__":
    unittest.main()
