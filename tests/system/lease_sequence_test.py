"""A Lease that waits, from its call to the ack, in the order that docs/ARCHITECTURE.md draws."""

import re
import time
import unittest

from support.case import SystemTest
from support.process import GENEROUS_S

QUEUE = "sequence"
# The statements that the broker runs before each state of the call. tests/tidy holds the picture
# against them.
SEQUENCE = (
    ("parked", ("lane_priorities",)),
    ("notified", ()),
    ("committed", ("session_touch", "task_lease")),
    ("settled", ("task_ack",)),
)
COUNT = re.compile(r'skiplane_db_statement_seconds_count\{statement="(\w+)"\}')
ALL = [statement for _, statements in SEQUENCE for statement in statements]


class LeaseSequence(SystemTest):
    def setUp(self):
        super().setUp()
        self.broker, self.client = self.start()
        self.other = self.client_of(self.start_broker())
        self.client.create_queue(QUEUE)
        self.before = self.counts()

    def counts(self):
        metrics = self.broker.metrics().items()
        return {COUNT.match(name).group(1): value for name, value in metrics if COUNT.match(name)}

    def ran(self):
        """Those of the statements that ran since the last question, in the order of SEQUENCE."""
        counts, before = self.counts(), self.before
        self.before = counts
        return tuple(name for name in ALL if counts.get(name, 0) > before.get(name, 0))

    def heard(self):
        return self.broker.metrics().get('skiplane_db_notifications_total{result="received"}', 0)

    def test_a_lease_is_parked_then_notified_then_committed_then_settled(self):
        expected = dict(SEQUENCE)
        parked = self.park(self.broker, self.client, QUEUE, worker_id="w")
        self.assertEqual(self.ran(), expected["parked"])

        heard, end = self.heard(), time.monotonic() + GENEROUS_S
        self.other.enqueue(QUEUE)
        while self.heard() == heard:
            self.assertLess(time.monotonic(), end, "no notification came")
        [task] = parked.result().tasks
        self.assertEqual(self.ran(), expected["notified"] + expected["committed"])

        self.assertEqual(self.client.ack(task), ["ACKED"])
        self.assertEqual(self.ran(), expected["settled"])


if __name__ == "__main__":
    unittest.main()
