"""Faults of all of PostgreSQL: killed, shut down at once, frozen."""

import unittest

from support.case import slow
from support.fault import FaultTest


@slow
class PostgresFault(FaultTest):
    own_cluster = ()

    def setUp(self):
        super().setUp()
        self.begin()

    def test_sigkill_of_all_of_postgresql_and_its_restart(self):
        self.cluster.kill()
        self.assert_unready()
        self.load.wait_for_refusal("UNAVAILABLE", 10)
        self.cluster.start()
        self.recover()

    def test_an_immediate_shutdown_and_restart(self):
        self.cluster.stop_at_once()
        self.assert_unready()
        self.load.wait_for_refusal("UNAVAILABLE", 10)
        self.cluster.start()
        self.recover()

    def test_three_immediate_restarts_in_a_row(self):
        for _ in range(3):
            self.cluster.stop_at_once()
            self.assert_unready()
            self.cluster.start()
            self.load.wait_for_acks(50)
        self.recover()


if __name__ == "__main__":
    unittest.main()
