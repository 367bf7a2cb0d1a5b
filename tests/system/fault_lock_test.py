"""Statements that wait for locks which are held for long."""

import unittest

from support.case import slow
from support.fault import FaultTest


@slow
class LockFault(FaultTest):
    def setUp(self):
        super().setUp()
        self.begin(tolerated=["ABORTED", "DEADLINE_EXCEEDED"])

    def test_calls_that_wait_for_locked_tables_are_refused_and_then_done(self):
        lock = self.database.hold("LOCK TABLE skiplane.task, skiplane.task_pack")
        self.load.wait_for_refusal("ABORTED", 5)
        lock.release()
        self.recover()
        self.assertEqual(self.readiness.changes(), 0)


if __name__ == "__main__":
    unittest.main()
