"""A user that migrates, and a user that runs brokers with the role skiplane_broker and no other
right: together they go through the whole life of a queue, and PostgreSQL denies nothing."""

import os
import re
import subprocess
import unittest

from support import broker as brokers
from support import stubs
from support.case import SystemTest
from support.cluster import Cluster
from support.database import Database, run_sql
from support.life import Life
from support.process import Process

CHORES = ("leader", "reclaimer", "counter_folder", "clock_mender", "partitions", "hang_finder",
          "error_folder", "ledger_folder", "retention", "token_keys", "unused_sessions")
ROLES = ("skiplane_owner", "skiplane_broker", "skiplane_producer", "skiplane_reader")
SCRIPT = os.path.join(stubs.ROOT, "deploy", "database-roles.sql")


def documented(title):
    """The SQL of docs/OPERATIONS.md that begins with this comment."""
    with open(os.path.join(stubs.ROOT, "docs", "OPERATIONS.md"), encoding="utf-8") as file:
        blocks = re.findall(r"```sql\n(.*?)```", file.read(), re.DOTALL)
    [block] = [block for block in blocks if block.startswith(f"-- {title}")]
    return block


class Roles(SystemTest):
    def setUp(self):  # a cluster of its own, for its roles and its log
        self.cluster = Cluster()
        self.addCleanup(self.cluster.end)
        self.database = Database.named(self.cluster, "skiplane")

    def as_administrator(self, *arguments, **options):
        # Statement by statement: CREATE DATABASE stands alone.
        subprocess.run(["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", *arguments,
                        self.cluster.uri("postgres")], text=True, check=True, **options)

    def migrate_as(self, user):
        migration = Process([brokers.program(), "migrate",
                             f"--database={self.database.uri_as(user)}"])
        self.addCleanup(migration.end)
        self.assertEqual(migration.wait(), 0, migration.output)
        return migration.output

    def start_as(self, user):
        broker = brokers.Broker(f"--database={self.database.uri_as(user)}", "--no-migrate")
        self.addCleanup(broker.end)
        return broker, self.client_of(broker)

    def test_the_whole_life_of_a_queue_with_the_roles_that_are_documented(self):
        self.as_administrator("-f", SCRIPT)
        self.as_administrator(input=documented("As a superuser"))
        self.migrate_as("migrator")
        # A day that is to be made, and one that is over.
        run_sql(self.database.uri_as("migrator"),
                "SET ROLE skiplane_owner; DO $$ BEGIN EXECUTE format('DROP TABLE"
                " skiplane.history_%s', to_char(now() AT TIME ZONE 'UTC' + interval '9 days',"
                " 'YYYYMMDD')); END $$;"
                "CREATE TABLE skiplane.history_20200101 PARTITION OF skiplane.history"
                " FOR VALUES FROM ('2020-01-01') TO ('2020-01-02')")
        broker, client = self.start_as("brokers")
        Life(client).live()
        client.enqueue("life.next", b"lost")
        client.lease("life.next", worker_id="dead")
        self.database.expire_sessions()
        broker.wait_for_output(" sessions_lost ")
        for line in ("partitions_made", "partition_dropped"):
            broker.wait_for_output(line)
        self.wait_for_chores(broker)
        self.assertEqual(broker.terminate(), 0, broker.output)
        self.assert_nothing_was_denied(broker)

    def assert_nothing_was_denied(self, broker):
        for denial in ("chore_failed", "DATABASE_PERMISSION_DENIED"):
            self.assertNotIn(denial, broker.output)
        for denial in ("permission denied", "must be owner", "42501"):
            self.assertNotIn(denial, self.cluster.log())

    def wait_for_chores(self, broker):
        success = "skiplane_chore_last_success_timestamp_seconds"
        missing = set(CHORES)
        while missing:
            page = broker.metrics()
            missing = {chore for chore in missing
                       if not page.get(f'{success}{{chore="{chore}"}}')}

    def roles(self):
        return [name for name in ROLES
                if self.database.value(f"SELECT to_regrole('{name}') IS NOT NULL") == "t"]

    def test_who_may_make_no_roles_migrates_and_grants_when_they_are_there(self):
        self.as_administrator(input="CREATE ROLE plain LOGIN; CREATE DATABASE skiplane OWNER plain")
        self.assertIn(f'roles_missing roles="{" ".join(ROLES)}"', self.migrate_as("plain"))
        self.assertEqual(self.roles(), [])
        broker, client = self.start_as("plain")
        client.create_queue("of.plain")
        self.assertEqual(broker.terminate(), 0, broker.output)
        for _ in range(2):
            self.as_administrator("-f", SCRIPT)
            run_sql(self.database.uri_as("plain"), "SELECT skiplane.grant_rights()")
        self.assertEqual(self.roles(), list(ROLES))
        self.as_administrator(input="CREATE ROLE brokers LOGIN IN ROLE skiplane_broker")
        broker, client = self.start_as("brokers")
        self.assertEqual(client.queue("of.plain").counts.ready_count, 0)
        Life(client).live()
        self.assert_nothing_was_denied(broker)

    def test_two_databases_of_a_cluster_share_the_roles(self):
        may_insert = "SELECT has_table_privilege('skiplane_broker', 'skiplane.task', 'INSERT')"
        for name in ("skiplane", "other"):
            self.as_administrator(input=f"CREATE DATABASE {name}")
            self.database = Database.named(self.cluster, name)
            self.migrate_as("skiplane")
            self.assertEqual(self.database.value(may_insert), "t")


if __name__ == "__main__":
    unittest.main()
