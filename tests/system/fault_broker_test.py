"""A broker is killed under load, and another takes its place."""

import unittest

from support.fault import FaultTest


class BrokerFault(FaultTest):
    def test_sigkill_of_the_only_broker_and_a_successor(self):
        self.begin()
        self.broker.kill()
        self.load.wait_for_refusal("UNAVAILABLE", 10)
        self.succeed()
        self.recover()

    def succeed(self):
        """A new broker, which the load calls from now on."""
        self.readiness.end()
        self.broker = self.start_broker()
        self.brokers = [self.broker]
        self.watch_readiness()
        self.load.addresses[:] = [self.broker.address]


if __name__ == "__main__":
    unittest.main()
