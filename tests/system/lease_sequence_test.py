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
    ("renewed", ("session_renew",)),
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
        return self.broker.metrics().get('skiplane_db_notifications_total{direction="received"}', 0)

    def await_growth(self, count, before):
        end = time.monotonic() + GENEROUS_S
        while count() == before:
            self.assertLess(time.monotonic(), end, "nothing came")

    def test_a_lease_is_parked_then_renewed_then_notified_then_committed_then_settled(self):
        expected = dict(SEQUENCE)
        parked = self.park(self.broker, self.client, QUEUE, worker_id="w")
        [renewal] = expected["renewed"]
        self.await_growth(lambda: self.counts().get(renewal, 0), self.before.get(renewal, 0))
        self.assertEqual(self.ran(), expected["parked"] + expected["renewed"])

        heard = self.heard()
        self.other.enqueue(QUEUE)
        self.await_growth(self.heard, heard)
        [task] = parked.result().tasks
        self.assertEqual(self.ran(), expected["notified"] + expected["committed"])

        self.assertEqual(self.client.ack(task), ["SETTLED"])
        self.assertEqual(self.ran(), expected["settled"])


if __name__ == "__main__":
    unittest.main()
