"""Databases on which a broker cannot work are refused at its start, with the reason in one line;
and noticed when they become so while it runs."""

import time
import unittest

import grpc

from support import broker as brokers
from support.case import SystemTest
from support.client import DEADLINE_S, broker_pb2, reason_of
from support.cluster import Cluster
from support.database import Database, run_sql
from support.process import GENEROUS_S, Process

QUEUE = "strange"
DIST_PARTITION = ("SET allow_system_table_mods = on; "
                  "CREATE TABLE pg_catalog.pg_dist_partition (logicalrelid regclass);"
                  "GRANT SELECT ON pg_catalog.pg_dist_partition TO PUBLIC")  # as Citus does
HANG_UP = ("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE"
           " datname = current_database() AND pid <> pg_backend_pid()")


class StrangeTest(SystemTest):
    def assert_does_not_start(self, uri, *words):
        broker = Process([brokers.program(), "--listen=127.0.0.1:0",
                          "--metrics-listen=127.0.0.1:0", f"--database={uri}"])
        self.addCleanup(broker.end)
        self.assertEqual(broker.wait(), 1, broker.output)
        lines = [line for line in broker.output.splitlines() if " cannot_run " in line]
        self.assertEqual(len(lines), 1, broker.output)
        for word in words:
            self.assertIn(word, lines[0])

    def assert_noticed(self, broker, client, reason, change, mend, code="FAILED_PRECONDITION"):
        """It becomes so by `change`: told once, to everybody, until it is mended."""
        with grpc.insecure_channel(broker.address) as channel:
            statuses = brokers.watch(channel)
            next(status for status in statuses if status == brokers.SERVING)
            change()
            next(status for status in statuses if status == brokers.NOT_SERVING)
            broker.wait_for_output(f"database_unusable reason={reason}")
            outage = f'skiplane_db_outage{{reason="{reason}"}}'
            self.assertEqual(broker.metrics()[outage], 1)
            request = broker_pb2.EnqueueRequest(queue=QUEUE, tasks=[broker_pb2.NewTask()])
            for _ in range(10):
                self.assert_refused(code, reason, client.broker.Enqueue, request,
                                    timeout=DEADLINE_S)
            mend()
            next(status for status in statuses if status == brokers.SERVING)
        client.enqueue(QUEUE)
        self.assertEqual(broker.metrics()[outage], 0)
        broker.wait_for_output(" database_usable")
        self.assertEqual(broker.output.count(" database_unusable "), 1, broker.output)


class StrangeDatabase(StrangeTest):
    def test_a_standby(self):
        cluster = Cluster(standby=True)
        self.addCleanup(cluster.end)
        for uri in (cluster.uri("postgres"),
                    cluster.uri("postgres") + "&target_session_attrs=any"):
            self.assert_does_not_start(uri, "takes no writes, as a standby does")

    def test_a_role_that_may_only_read(self):
        uri = f"{self.database.uri}&options=-c%20default_transaction_read_only%3Don"
        self.assert_does_not_start(uri, "takes no writes")

    def test_tables_that_citus_has_distributed(self):
        self.database.run(DIST_PARTITION)
        broker, client = self.start()  # it is installed, and nothing is distributed
        client.create_queue("q")
        broker.terminate()
        self.database.run("INSERT INTO pg_catalog.pg_dist_partition VALUES ('skiplane.task')")
        self.assert_does_not_start(self.database.uri, "Citus has distributed tables", "(1)")

    def test_tables_that_citus_distributes_while_the_broker_runs(self):
        self.database.run(DIST_PARTITION)
        broker, client = self.start()
        client.create_queue(QUEUE)
        self.assert_noticed(
            broker, client, "DATABASE_DISTRIBUTED",
            lambda: self.database.run(
                "INSERT INTO pg_catalog.pg_dist_partition VALUES ('skiplane.task')"),
            lambda: self.database.run("DELETE FROM pg_catalog.pg_dist_partition"))

    # The broker stayed ready, and each call was an internal error.
    def test_a_schema_that_is_away_while_the_broker_runs(self):
        broker, client = self.start()
        client.create_queue(QUEUE)
        self.assert_noticed(broker, client, "DATABASE_UNAVAILABLE",
                            lambda: self.database.run("ALTER SCHEMA skiplane RENAME TO away"),
                            lambda: self.database.run("ALTER SCHEMA away RENAME TO skiplane"),
                            code="UNAVAILABLE")


class CarelessServer(StrangeTest):
    def setUp(self):
        cluster = Cluster()
        self.addCleanup(cluster.end)
        self.database = Database(cluster)
        self.postgres = cluster.uri("postgres")

    def set_fsync(self, value):
        run_sql(self.postgres, f"ALTER SYSTEM SET fsync = {value}")
        run_sql(self.postgres, "SELECT pg_reload_conf()")
        self.database.eventually("SELECT current_setting('fsync')", value)
        if value == "off":
            self.database.run(HANG_UP)  # the broker looks at each new connection

    def enqueue_until_answered(self, client, request_id):
        """Any of the broker's connections may be lost just now: the call is repeated as it is."""
        end = time.monotonic() + GENEROUS_S
        while True:
            try:
                return client.enqueue(QUEUE, request_id=request_id)
            except grpc.RpcError as error:
                self.assertEqual(reason_of(error), "DATABASE_UNAVAILABLE", error)
                self.assertLess(time.monotonic(), end, error)

    def test_a_server_that_loses_its_durability_while_the_broker_runs(self):
        broker, client = self.start()
        client.create_queue(QUEUE)
        self.assert_noticed(broker, client, "DATABASE_NOT_DURABLE",
                            lambda: self.set_fsync("off"), lambda: self.set_fsync("on"))

    def test_that_is_told_once_and_borne_where_it_is_allowed(self):
        broker, client = self.start("--allow-unsafe-durability")
        client.create_queue(QUEUE)
        for number in range(2):
            self.set_fsync("off")
            broker.wait_for_output(" unsafe_durability ")
            self.enqueue_until_answered(client, str(number))
            self.set_fsync("on")
        self.assertEqual(broker.output.count(" unsafe_durability "), 1, broker.output)


if __name__ == "__main__":
    unittest.main()
