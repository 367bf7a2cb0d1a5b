"""A role that migrates and owns, and a role that runs brokers with the rights that OPERATIONS lists
and no other: together they go through the whole life of a queue, and PostgreSQL denies nothing."""

import os
import re
import subprocess
import unittest

from support import broker as brokers
from support.case import SystemTest
from support.cluster import Cluster
from support.database import Database, run_sql
from support.life import Life
from support.process import Process

OPERATIONS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs",
                          "OPERATIONS.md")
CHORES = ("leader", "reclaimer", "counter_folder", "clock_mender", "partitions", "hang_finder",
          "error_folder", "ledger_folder", "retention", "token_keys")


def documented(title):
    """The SQL of the document that begins with this comment."""
    with open(OPERATIONS, encoding="utf-8") as file:
        blocks = re.findall(r"```sql\n(.*?)```", file.read(), re.DOTALL)
    [block] = [block for block in blocks if block.startswith(f"-- {title}")]
    return block


class Roles(SystemTest):
    def setUp(self):  # a cluster of its own, for its roles and its log
        self.cluster = Cluster()
        self.addCleanup(self.cluster.end)
        # Statement by statement, as an operator gives them: CREATE DATABASE stands alone.
        subprocess.run(["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", self.cluster.uri("postgres")],
                       input=documented("As a superuser"), text=True, check=True)
        self.database = Database.named(self.cluster, "skiplane")

    def as_owner(self, sql):
        run_sql(self.database.uri_as("skiplane_owner"), sql)

    def migrate(self):
        migration = Process([brokers.program(), "migrate",
                             f"--database={self.database.uri_as('skiplane_owner')}"])
        self.addCleanup(migration.end)
        self.assertEqual(migration.wait(), 0, migration.output)

    def test_the_whole_life_of_a_queue_with_the_rights_that_are_documented(self):
        self.migrate()
        self.as_owner(documented("As the owner"))
        # A day that is to be made, and one that is over.
        self.as_owner("DO $$ BEGIN EXECUTE format('DROP TABLE skiplane.history_%s',"
                      " to_char(now() AT TIME ZONE 'UTC' + interval '9 days', 'YYYYMMDD')); END $$;"
                      "CREATE TABLE skiplane.history_20200101 PARTITION OF skiplane.history"
                      " FOR VALUES FROM ('2020-01-01') TO ('2020-01-02')")
        broker = brokers.Broker(f"--database={self.database.uri_as('skiplane_broker')}",
                                "--no-migrate")
        self.addCleanup(broker.end)
        client = self.client_of(broker)
        Life(client).live()
        client.enqueue("life.next", b"lost")
        client.lease("life.next", worker_id="dead")
        self.database.expire_sessions()
        broker.wait_for_output(" sessions_lost ")
        for line in ("partitions_made", "partition_dropped"):
            broker.wait_for_output(line)
        self.wait_for_chores(broker)
        self.assertEqual(broker.terminate(), 0, broker.output)
        self.assertNotIn("chore_failed", broker.output)
        for denial in ("permission denied", "must be owner", "42501"):
            self.assertNotIn(denial, self.cluster.log())

    def wait_for_chores(self, broker):
        success = "skiplane_chore_last_success_timestamp_seconds"
        missing = set(CHORES)
        while missing:
            page = broker.metrics()
            missing = {chore for chore in missing
                       if not page.get(f'{success}{{chore="{chore}"}}')}

    def test_what_a_later_migration_makes_is_granted_beforehand(self):
        self.migrate()
        self.as_owner(documented("As the owner"))
        self.as_owner("CREATE TABLE skiplane.of_tomorrow (v bigint GENERATED ALWAYS AS IDENTITY);"
                      "CREATE SEQUENCE skiplane.numbers; CREATE FUNCTION skiplane.f() RETURNS int"
                      " LANGUAGE sql AS 'SELECT 1'; REVOKE ALL ON FUNCTION skiplane.f FROM PUBLIC")
        run_sql(self.database.uri_as("skiplane_broker"),
                "INSERT INTO skiplane.of_tomorrow DEFAULT VALUES; SELECT skiplane.f();"
                "SELECT nextval('skiplane.numbers')")


if __name__ == "__main__":
    unittest.main()
