"""Two brokers are restarted in turn under load, and nobody notices."""

import signal
import unittest

from support.broker import listen_where_nobody_is_put
from support.case import slow
from support.fault import FaultTest
from support.load import MACHINE_FACTOR

RESTARTS = 20
EXIT_WITHIN_S = 10 * MACHINE_FACTOR
TRIES_MOST = 6  # of one call: at the broker that ends, at the other, and so on


@slow
class RollingRestart(FaultTest):
    def address(self):
        """It stays free while its broker is restarted."""
        with listen_where_nobody_is_put() as taken:
            return f"127.0.0.1:{taken.getsockname()[1]}"

    def test_twenty_restarts_of_two_brokers_in_turn(self):
        self.begin(*(self.start_broker(listen=self.address()) for _ in range(2)))
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
