"""Databases on which a broker cannot work are refused at its start, with the reason in one line."""

import unittest

from support import broker as brokers
from support.case import SystemTest
from support.cluster import Cluster
from support.process import Process


class StrangeDatabase(SystemTest):
    def assert_does_not_start(self, uri, *words):
        broker = Process([brokers.program(), "--listen=127.0.0.1:0",
                          "--metrics-listen=127.0.0.1:0", f"--database={uri}"])
        self.addCleanup(broker.end)
        self.assertEqual(broker.wait(), 1, broker.output)
        lines = [line for line in broker.output.splitlines() if " cannot_run " in line]
        self.assertEqual(len(lines), 1, broker.output)
        for word in words:
            self.assertIn(word, lines[0])

    def test_a_standby(self):
        cluster = Cluster(standby=True)
        self.addCleanup(cluster.end)
        self.assert_does_not_start(cluster.uri("postgres"), "takes no writes, as a standby does")

    def test_a_role_that_may_only_read(self):
        uri = f"{self.database.uri}&options=-c%20default_transaction_read_only%3Don"
        self.assert_does_not_start(uri, "takes no writes")

    def test_tables_that_citus_has_distributed(self):
        self.database.run("SET allow_system_table_mods = on; "
                          "CREATE TABLE pg_catalog.pg_dist_partition (logicalrelid regclass)")
        broker, client = self.start()  # it is installed, and nothing is distributed
        client.create_queue("q")
        broker.terminate()
        self.database.run("INSERT INTO pg_catalog.pg_dist_partition VALUES ('skiplane.task')")
        self.assert_does_not_start(self.database.uri, "Citus has distributed tables", "(1)")


if __name__ == "__main__":
    unittest.main()
