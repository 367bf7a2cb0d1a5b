"""The alerts of queues, workers and callers fire by their causes, and about no other queue."""

import contextlib
import unittest

import place  # noqa: F401  (first: it finds the others)
import grpc
import prometheus
from alerts_case import AlertsTest
from support.case import slow
from support.client import seconds

UNSERVED, BROKEN, RETRYING, HELD = "unserved", "broken", "retrying", "held"
LATE, SILENT, LONG, FULL, WELL = "late", "silent", "long", "full", "well"


@slow
@unittest.skipUnless(prometheus.IS_INSTALLED, prometheus.WHY_NOT)
class Queues(AlertsTest):
    EXPECTED = frozenset({
        ("SkiplaneQueueWithoutWorkers", UNSERVED), ("SkiplaneReadyTaskTooOld", UNSERVED),
        ("SkiplaneErrorRatioHigh", BROKEN), ("SkiplaneDeadLettersGrow", BROKEN),
        ("SkiplaneErrorRatioHigh", RETRYING), ("SkiplaneQueuePaused", HELD),
        ("SkiplanePlannedTimesLate", LATE), ("SkiplaneLeasesLost", SILENT),
        ("SkiplaneHeartbeatsLate", ""), ("SkiplaneAttemptTooLong", LONG),
        ("SkiplaneCallsRefused", "QUEUE_FULL")})
    # Its tasks run late, and what a silent worker held is ready again.
    ALLOWED = frozenset({("SkiplaneReadyTaskTooOld", LATE), ("SkiplaneErrorRatioHigh", SILENT),
                         ("SkiplaneReadyTaskTooOld", SILENT),
                         ("SkiplaneQueueWithoutWorkers", SILENT)})

    def setUp(self):
        super().setUp()
        self.broker, self.client = self.start()
        for name in (UNSERVED, BROKEN, RETRYING, HELD, LATE, SILENT, LONG, WELL):
            self.client.create_queue(name)
        self.client.create_queue(FULL, max_depth=1)
        self.watch(broker=self.broker)

    def test_each_fires_by_its_cause(self):
        self.client.enqueue(UNSERVED)
        self.client.pause(HELD)
        self.client.enqueue(HELD)
        self.client.enqueue(FULL, delay=seconds(3600))
        for number in range(200):
            self.client.enqueue(LATE, key=str(number), period=seconds(1))
        self.hold(LONG, 1, 600)
        lost = self.hold(SILENT, 12, 2)
        self.await_fired(("SkiplaneLeasesLost", SILENT), go_on=self.work)
        self.client.ack(*lost)
        self.join("second", self.start_broker())  # it looks at the ages of attempts at once
        self.await_fired(*self.EXPECTED, go_on=self.work)

    def hold(self, queue, count, duration):
        self.client.enqueue_all(queue, [{} for _ in range(count)])
        return self.client.lease(queue, max_tasks=count, worker_id=queue, duration=duration)

    def work(self):
        """What goes wrong again and again; and a queue where nothing does."""
        self.run_one(BROKEN, "FAIL")
        self.run_one(RETRYING, "RETRY")
        self.run_one(WELL)
        self.client.ack(*self.client.lease(LATE))
        with contextlib.suppress(grpc.RpcError):
            self.client.enqueue(FULL, delay=seconds(3600))

    def run_one(self, queue, disposition=None):
        self.client.enqueue(queue)
        [task] = self.client.lease(queue)
        if disposition:
            self.client.nack(task, disposition)
        else:
            self.client.ack(task)


if __name__ == "__main__":
    unittest.main()
