"""The ground of every test from outside: a database of its own, brokers on it, clients of these,
and workers as processes; all of it gone when the test ends."""

import json
import os
import sys
import time
import unittest

import grpc

from support import cluster, template
from support.broker import Broker
from support.client import Client, fields_of, reason_of
from support.database import Database
from support.packs import TASKS
from support.process import GENEROUS_S, Process

WORKER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "worker.py")


def leases_begun(broker):
    name = 'grpc_server_call_started_total{grpc_method="skiplane.v1.BrokerService/Lease"}'
    return broker.metrics().get(name, 0)


def slow(test):
    """Marks a method or a class that takes more than ten seconds: only `tests/run --all` runs it.
    tests/skiplane_python_test.cmake looks for the line."""
    return test


def make_database(case, is_migrated=True):
    """One of the server of all tests, until the case ends, with the broker's schema unless
    `is_migrated` is false. With it brokers have the rights of the role skiplane_broker, and no
    other."""
    shared = cluster.shared()
    database = Database(shared, template.made_in(shared) if is_migrated else "template0")
    if is_migrated:
        database.broker_user = template.BROKER_USER
    case.addCleanup(database.drop)
    return database


class SystemTest(unittest.TestCase):
    """`is_migrated`: see make_database()."""

    is_migrated = True

    def setUp(self):
        self.database = make_database(self, self.is_migrated)

    def start_broker(self, *flags, **options):
        broker = Broker(f"--database={self.database.broker_uri}", *flags, **options)
        self.addCleanup(broker.end)
        return broker

    def client_of(self, broker, token=None):
        client = Client(broker.address, token)
        self.addCleanup(client.close)
        return client

    def start(self, *flags):
        """A broker and a client of it."""
        broker = self.start_broker(*flags)
        return broker, self.client_of(broker)

    def start_worker(self, broker, queue, **options):
        """A process that leases one task and works on it for ever; see support/worker.py."""
        worker = Process(
            [sys.executable, "-B", WORKER, broker.address, queue, json.dumps(options)],
            env={"PYTHONPATH": os.path.dirname(os.path.dirname(WORKER))})
        self.addCleanup(worker.end)
        worker.wait_for_output("working\n")
        return worker

    def park(self, broker, client, queue, **fields):
        """A lease that waits: the broker has it, and found nothing for those who came after it."""
        before = leases_begun(broker)
        parked = client.lease_later(queue, **fields)
        end = time.monotonic() + GENEROUS_S
        while leases_begun(broker) == before:
            self.assertLess(time.monotonic(), end, "the lease does not reach the broker")
        self.assertEqual(client.lease(queue, wait=0), [])
        return parked

    def assert_refused(self, code, reason, call, *arguments, **fields):
        with self.assertRaises(grpc.RpcError) as refusal:
            call(*arguments, **fields)
        self.assertEqual((refusal.exception.code().name, reason_of(refusal.exception)),
                         (code, reason), refusal.exception)
        self.assert_plain_metadata(refusal.exception)
        return refusal.exception

    def assert_plain_metadata(self, error):
        """What a refusal's details say first is in its trailing metadata, too."""
        metadata = dict(error.trailing_metadata() or ())
        self.assertEqual(metadata.get("skiplane-reason", ""), reason_of(error))
        field = "".join(fields_of(error)[:1])
        self.assertEqual(metadata.get("skiplane-field", ""),
                         field if field.isascii() and field.isprintable() else "")

    def assert_nothing_leased(self):
        """No lease was left behind, and none was charged."""
        self.assertEqual(
            self.database.run(f"SELECT state, attempt FROM {TASKS}"
                              " WHERE state = 2 OR attempt > 0"), [])
