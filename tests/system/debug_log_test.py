"""The log at level debug: what it tells, its bounds, and that nobody's secrets are in it."""

import collections
import time
import unittest

from support import broker as brokers
from support.case import SystemTest
from support.client import broker_pb2, task_pb2
from support.cluster import Cluster
from support.database import Database
from support.process import GENEROUS_S

QUEUE = "busy"
WORKER = "canary_worker"
CANARIES = ("canary_payload", "canary_key", "canary_header", "canary_value", "canary_text",
            "canary_request", "canary_password", WORKER)
LINES_A_SECOND = 20


class DebugLog(SystemTest):
    def setUp(self):
        super().setUp()
        self.cluster = Cluster()
        self.addCleanup(self.cluster.end)
        uri = self.cluster.uri("postgres").replace("skiplane@", "skiplane:canary_password@")
        self.broker = brokers.Broker("--log-level=debug", env={"SKIPLANE_DATABASE": uri})
        self.addCleanup(self.broker.end)
        self.client = self.client_of(self.broker)
        self.client.create_queue(QUEUE)
        self.tokens = []

    def enqueue(self, count):
        self.client.enqueue_all(QUEUE, [broker_pb2.NewTask(
            payload=b"canary_payload", key=f"canary_key_{time.monotonic_ns()}",
            headers={"canary_header": "canary_value"}) for _ in range(count)],
            request_id=f"canary_request_{time.monotonic_ns()}")

    def lease(self, **fields):
        tasks = self.client.lease(QUEUE, max_tasks=2, worker_id=WORKER, **fields)
        self.tokens += [task.lease_token for task in tasks]
        return tasks

    def live(self):
        """A life with everything in it that is told of."""
        self.enqueue(6)
        first, second = self.lease(request_id="canary_request_lease")
        self.client.heartbeat(WORKER, 30, first, second)
        error = task_pb2.TaskError(type="T", text=b"canary_text")
        self.client.nack(first, error=error)
        self.client.ack(second)
        self.client.ack(second)
        self.lease()
        self.client.broker.Heartbeat(broker_pb2.HeartbeatRequest(
            worker_id=WORKER, end_session=True), timeout=GENEROUS_S)
        self.lease(duration=30)
        Database.named(self.cluster, "postgres").expire_sessions()
        self.assert_refused("NOT_FOUND", "QUEUE_NOT_FOUND", self.client.lease, "canary_key")
        self.client.pause(QUEUE)
        self.client.lease(QUEUE, wait=0)
        self.client.resume(QUEUE)

    def flood(self):
        """Refused calls, many at once, until lines were left out."""
        end = time.monotonic() + GENEROUS_S
        while "left_out=" not in self.broker.output:
            self.assertLess(time.monotonic(), end, "nothing was left out")
            calls = [self.client.lease_later(QUEUE, max_tasks=0) for _ in range(200)]
            for call in calls:
                self.assertIsNotNone(call.exception())
            self.enqueue(2)
            self.client.ack(*self.lease())

    def test_what_was_decided_is_told_within_bounds_and_without_secrets(self):
        self.live()
        for event in ("leased", "settled", "heartbeats", "sessions_renewed", "sessions_ended",
                      "reclaimed", "chore", "call_refused", "connection_accepted",
                      "database_connected"):
            self.broker.wait_for_output(f" debug {event} ")
        self.flood()
        self.assertEqual(self.broker.terminate(), 0)
        seen = collections.Counter()
        for line in self.broker.output.splitlines():
            moment, level, event = line.split(" ", 3)[:3]
            if level == "debug":
                seen[moment[:19], event] += 1
        # A second of the clock may see the end of one bound and the begin of the next.
        self.assertLessEqual(max(seen.values()), 2 * LINES_A_SECOND)
        self.assertGreater(len(self.tokens), 6)  # those of a life and of the flood
        for log in (self.broker.output, self.cluster.log()):
            for canary in CANARIES:
                self.assertNotIn(canary, log)
                self.assertNotIn(canary.encode().hex(), log)
            for token in self.tokens:
                self.assertNotIn(token.hex(), log)


if __name__ == "__main__":
    unittest.main()
