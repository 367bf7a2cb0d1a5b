"""A pooler between a broker and PostgreSQL: in session mode it is none of the broker's business, in
another one it is refused, at the start and when its mode is changed."""

import os
import unittest

import grpc

from support import broker as brokers
from support import cluster
from support.case import SystemTest
from support.client import DEADLINE_S, broker_pb2
from support.life import Life
from support.pooler import PROGRAM, Pooler
from support.process import Process

QUEUE = "pooled"
REFUSAL = ("FAILED_PRECONDITION", "POOLER_NOT_SUPPORTED")


@unittest.skipUnless(os.path.exists(PROGRAM), "the Debian package pgbouncer is not installed")
class Poolers(SystemTest):
    def start_behind(self, mode, settings=""):
        pooler = Pooler(cluster.shared(), mode, settings)
        self.addCleanup(pooler.end)
        broker = brokers.Broker(f"--database={pooler.uri(self.database)}")
        self.addCleanup(broker.end)
        return pooler, broker, self.client_of(broker)

    def test_a_queue_lives_its_whole_life_behind_a_pooler_in_session_mode(self):
        _, broker, client = self.start_behind("session")
        Life(client).live()
        self.assertNotIn(" database_unusable ", broker.output)

    def assert_refused_at_the_start(self, mode, settings=""):
        pooler = Pooler(cluster.shared(), mode, settings)
        self.addCleanup(pooler.end)
        broker = Process([brokers.program(), "--listen=127.0.0.1:0", "--metrics-listen=off",
                          f"--database={pooler.uri(self.database)}"])
        self.addCleanup(broker.end)
        self.assertEqual(broker.wait(), 1, broker.output)
        [line] = [line for line in broker.output.splitlines() if " cannot_run " in line]
        self.assertIn("pooler in session mode (pool_mode = session)", line)

    def test_a_pooler_in_transaction_mode_is_refused_at_the_start(self):
        self.assert_refused_at_the_start("transaction")

    def test_a_pooler_that_hands_its_connections_out_in_turn_is_refused_too(self):
        self.assert_refused_at_the_start("transaction",
                                         "server_round_robin = 1\nmin_pool_size = 3")

    def test_a_pooler_with_a_single_connection_is_refused_too(self):
        self.assert_refused_at_the_start("transaction", "default_pool_size = 1")

    def test_a_pooler_in_statement_mode_is_refused_at_the_start(self):
        self.assert_refused_at_the_start("statement")

    def test_a_pooler_that_is_switched_to_transaction_mode_is_noticed_and_its_return_too(self):
        pooler, broker, client = self.start_behind("session")
        client.create_queue(QUEUE)
        client.enqueue(QUEUE, b"before")
        with grpc.insecure_channel(broker.address) as channel:
            statuses = brokers.watch(channel)
            next(status for status in statuses if status == brokers.SERVING)
            pooler.change_mode("transaction")
            next(status for status in statuses if status == brokers.NOT_SERVING)
            broker.wait_for_output("database_unusable reason=POOLER_NOT_SUPPORTED")
            request = broker_pb2.EnqueueRequest(queue=QUEUE, tasks=[broker_pb2.NewTask()])
            for _ in range(20):
                self.assert_refused(*REFUSAL, client.broker.Enqueue, request, timeout=DEADLINE_S)
            outage = 'skiplane_db_outage{reason="POOLER_NOT_SUPPORTED"}'
            self.assertEqual(broker.metrics()[outage], 1)
            pooler.change_mode("session")
            next(status for status in statuses if status == brokers.SERVING)
        [task] = client.lease(QUEUE)
        self.assertEqual((task.payload, client.ack(task)), (b"before", ["SETTLED"]))
        self.assertEqual(broker.output.count(" database_unusable "), 1, broker.output)
        broker.wait_for_output(" database_usable")


if __name__ == "__main__":
    unittest.main()
