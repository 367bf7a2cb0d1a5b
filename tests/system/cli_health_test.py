"""`skiplane health`: exit code 0 or 1, and a line."""

import unittest

import grpc

from support.broker import NOT_SERVING, watch
from support.cli import CliTest


class Health(CliTest):
    def test_a_broker_that_serves(self):
        self.assertEqual(self.run_cli("health"), "serving\n")
        self.assertEqual(self.run_cli("health", "--service", "liveness"), "serving\n")
        self.assertEqual(self.lines("health"), [{"status": "SERVING"}])

    def test_a_service_that_is_not_there(self):
        self.assertEqual(self.run_cli("health", "--service", "nonsense", code=1), "")
        self.assertIn("no service 'nonsense'", self.errors)

    def test_a_broker_that_is_not_ready_and_alive(self):
        self.database.refuse_writes()
        with grpc.insecure_channel(self.broker.address) as channel:
            next(status for status in watch(channel) if status == NOT_SERVING)
        self.assertEqual(self.run_cli("health", code=1), "")
        self.assertIn("its database is away or takes no writes", self.errors)
        self.assertEqual(self.run_cli("health", "--service", "liveness"), "serving\n")

    def test_a_broker_that_is_away(self):
        self.broker.terminate()
        self.run_cli("health", "--timeout", "5s", code=1)
        self.assertIn("not serving: no broker was reached", self.errors)
        self.assertEqual(len(self.errors.splitlines()), 1)

    def test_a_broker_that_does_not_answer(self):
        self.broker.freeze()
        self.addCleanup(self.broker.thaw)
        self.run_cli("health", "--timeout", "100ms", code=1)
        self.assertIn("not serving: ", self.errors)


if __name__ == "__main__":
    unittest.main()
