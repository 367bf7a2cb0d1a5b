"""`skiplane tasks show --wait` while a broker ends: the wait goes on at another one."""

import time
import unittest

from support.cli import CliTest
from support.process import GENEROUS_S

QUEUE = "mail"


class Await(CliTest):
    def setUp(self):
        super().setUp()
        self.client.create_queue(QUEUE)
        self.brokers = [self.broker, self.start_broker()]

    def wait_for_one_that_awaits(self):
        """The broker at which the call waits."""
        end = time.monotonic() + GENEROUS_S
        while True:
            for broker in self.brokers:
                if broker.metrics()["skiplane_awaiting_calls"] == 1:
                    return broker
            self.assertLess(time.monotonic(), end, "nobody waits")

    def test_a_drain_does_not_end_the_wait(self):
        task_id = self.client.enqueue(QUEUE)
        addresses = ",".join(broker.address for broker in self.brokers)
        show = self.start_cli("--broker", addresses, "tasks", "show", task_id, "--wait", "50s")
        first = self.wait_for_one_that_awaits()
        self.brokers.remove(first)
        self.assertEqual(first.terminate(), 0, first.output)
        left = self.client_of(self.wait_for_one_that_awaits())
        left.ack(*left.lease(QUEUE))
        self.assertEqual(show.wait(), 0, show.output)
        self.assertRegex(show.output, r"state +succeeded\n")


if __name__ == "__main__":
    unittest.main()
