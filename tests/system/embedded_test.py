"""The PostgreSQL of a broker, and others who use it."""

import os
import socket
import tempfile
import unittest

import grpc

from support import broker as brokers
from support.broker import Broker, NOT_SERVING, SERVING
from support.case import slow
from support.client import Client
from support.database import run_sql
from support.process import Process

QUEUE = "shared"
HTTP_HOST, HTTP_PORT = "127.0.0.1", 7080  # the default


class Embedded(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="skiplane-embedded-")
        cls.addClassCleanup(folder.cleanup)
        os.chmod(folder.name, 0o755)  # a root caller's cluster runs as another user
        cls.flag = f"--embedded={folder.name}/data"  # made once: that takes its time

    def start(self, *flags):
        broker = Broker(*flags)
        self.addCleanup(broker.end)
        return broker

    def client_of(self, broker):
        client = Client(broker.address)
        self.addCleanup(client.close)
        return client

    def readiness_of(self, broker):
        """Each status as it comes."""
        channel = grpc.insecure_channel(broker.address)
        self.addCleanup(channel.close)
        statuses = brokers.watch(channel)
        self.assertEqual(next(statuses), SERVING)
        return statuses

    def refused(self):
        program = Process([brokers.program(), self.flag])
        self.addCleanup(program.end)
        self.assertEqual(program.wait(), 1)
        return program.output

    def test_a_default_port_of_http_that_is_taken_stops_nobody(self):
        with socket.socket() as taken:
            taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                taken.bind((HTTP_HOST, HTTP_PORT))
                taken.listen()
            except OSError:
                pass  # somebody else has it
            broker = Broker(self.flag, http=None)
            self.addCleanup(broker.end)
            broker.wait_for_output(f" warn http_not_served address={HTTP_HOST}:{HTTP_PORT} ")
            self.assertIsNone(broker.http_address)
            self.client_of(broker).create_queue("without-http")
            self.assertEqual(broker.terminate(), 0)
            asked = Process([brokers.program(), self.flag, "--listen=127.0.0.1:0",
                             "--metrics-listen=off", f"--http-listen={HTTP_HOST}:{HTTP_PORT}"])
            self.addCleanup(asked.end)
            self.assertEqual(asked.wait(), 1)
            self.assertIn(f"cannot listen on {HTTP_HOST}:{HTTP_PORT}", asked.output)

    def start_second(self, first):
        """Its readiness and a client of it."""
        second = self.start(f"--database={first.database_uri}")
        client = self.client_of(second)
        client.create_queue(QUEUE)
        return second, self.readiness_of(second), client

    def test_the_uri_is_told_to_people_to_scripts_and_to_who_comes_second(self):
        first = self.start(self.flag)
        self.assertIn(f'database_started uri="{first.database_uri}" ', first.output)
        self.assertEqual(run_sql(first.database_uri, "SELECT 1"), [("1",)])
        # The ports of the first are taken, too: the directory is the reason that helps.
        refusal = self.refused()
        self.assertIn(f"process {first.pid}", refusal)
        self.assertIn(f"--database='{first.database_uri}'", refusal)
        self.assertEqual(first.terminate(), 0)
        self.assertNotIn("database_stops", first.output)  # nobody else is there

    def test_a_second_broker_outlives_the_first_and_goes_on_with_its_next_start(self):
        first = self.start(self.flag)
        second, readiness, client = self.start_second(first)
        task_id = client.enqueue(QUEUE)
        self.assertEqual(first.terminate(), 0)
        self.assertIn("warn database_stops other_brokers=1 ", first.output)
        self.assertEqual(next(readiness), NOT_SERVING)
        again = self.start(self.flag)
        self.assertEqual(next(readiness), SERVING)
        self.assertEqual([task.task_id for task in client.lease(QUEUE)], [task_id])
        self.assertEqual(second.terminate(), 0)
        self.assertEqual(again.terminate(), 0)  # its PostgreSQL writes no more

    @slow
    def test_so_it_does_when_the_first_is_killed(self):
        first = self.start(self.flag)
        _, readiness, client = self.start_second(first)
        task_id = client.enqueue(QUEUE)
        first.kill()
        self.assertEqual(next(readiness), NOT_SERVING)
        again = self.start(self.flag)
        self.assertEqual(next(readiness), SERVING)
        self.assertEqual([task.task_id for task in client.lease(QUEUE)], [task_id])
        self.assertEqual(again.terminate(), 0)


if __name__ == "__main__":
    unittest.main()
