"""Two brokers are restarted in turn under load, and nobody notices."""

import signal
import unittest

from support.case import slow
from support.fault import FaultTest
from support.load import MACHINE_FACTOR

RESTARTS = 20
EXIT_WITHIN_S = 10 * MACHINE_FACTOR
TRIES_MOST = 6  # of one call: at the broker that ends, at the other, and so on


@slow
class RollingRestart(FaultTest):
    def test_twenty_restarts_of_two_brokers_in_turn(self):
        self.begin(self.start_broker(), self.start_broker())
        self.brokers = list(self.brokers)
        for turn in range(RESTARTS):
            old = self.brokers[turn % 2]
            old.signal(signal.SIGTERM)
            self.assertEqual(old.wait(EXIT_WITHIN_S), 0, old.output)
            self.load.wait_for_acks(20)  # the other goes on
            self.brokers[turn % 2] = self.start_broker(listen=old.address)
            self.load.wait_for_acks(20)
        self.load.drain()
        self.load.check(self)  # nothing was lost, and no attempt was charged
        self.assertLessEqual(set(self.load.refusals), {"UNAVAILABLE", "CANCELLED"})
        self.assertLessEqual(self.load.tries_most, TRIES_MOST)


if __name__ == "__main__":
    unittest.main()
