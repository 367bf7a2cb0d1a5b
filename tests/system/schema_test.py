"""Which databases a broker accepts."""

import os
import tempfile
import unittest

from support import broker as brokers
from support import cluster
from support.broker import Broker
from support.case import SystemTest
from support.client import Client
from support.database import Database
from support.process import Process


class Schema(SystemTest):
    is_migrated = False

    def database_flag(self):
        return f"--database={self.database.uri}"

    def versions(self):
        return self.database.run("SELECT version FROM skiplane.schema_version ORDER BY version")

    def test_migrate_makes_the_schema_once(self):
        code, output = brokers.run_to_end(self, "migrate", self.database_flag())
        self.assertEqual(code, 0, output)
        made = self.versions()
        noun = "migration" if len(made) == 1 else "migrations"
        self.assertIn(f"{len(made)} {noun} applied\n", output)
        code, output = brokers.run_to_end(self, "migrate", self.database_flag())
        self.assertEqual((code, self.versions()), (0, made))
        self.assertIn("0 migrations applied\n", output)
        self.start_broker("--no-migrate")

    def test_a_dry_run_tells_what_is_missing_and_changes_nothing(self):
        code, output = brokers.run_to_end(self, "migrate", "--dry-run", self.database_flag())
        self.assertEqual(code, 0, output)
        self.assertIn("would apply 1 first\nwould apply 2 lean_request_ids\n", output)
        self.assertEqual(self.database.value("SELECT to_regnamespace('skiplane') IS NULL"), "t")
        brokers.run_to_end(self, "migrate", self.database_flag())
        code, output = brokers.run_to_end(self, "migrate", "--dry-run", self.database_flag())
        self.assertEqual((code, output), (0, "0 migrations missing\n"))

    def test_a_broker_that_must_not_migrate_refuses_an_empty_database(self):
        code, output = brokers.run_to_end(self, self.database_flag(), "--no-migrate",
                                          "--listen=[::1]:0")
        self.assertEqual(code, 1)
        self.assertIn("skiplaned migrate", output)
        self.assertEqual(self.database.value("SELECT to_regnamespace('skiplane') IS NULL"), "t")

    def test_several_brokers_may_start_on_an_empty_database_at_once(self):
        programs = [Process([brokers.program(), "migrate", self.database_flag()])
                    for _ in range(4)]
        for program in programs:
            self.addCleanup(program.end)
        self.assertEqual([program.wait() for program in programs], [0] * 4)
        self.start_broker("--no-migrate")

    def test_a_newer_schema_is_refused_and_left_alone(self):
        self.start_broker().terminate()
        self.database.run("INSERT INTO skiplane.schema_version (version, name) "
                          "SELECT max(version) + 1, 'of_tomorrow' FROM skiplane.schema_version")
        before = self.versions()
        for arguments in (["migrate"], [], ["--no-migrate"]):
            code, output = brokers.run_to_end(
                self, *arguments, self.database_flag(), "--listen=127.0.0.1:0",
                "--metrics-listen=off")
            self.assertEqual(code, 1, output)
            self.assertIn("newer", output)
        self.assertEqual(self.versions(), before)

    def test_a_database_that_cannot_be_reached_is_refused(self):
        code, output = brokers.run_to_end(self,
                                          "--database=postgresql://skiplane@/nobody?host=/nowhere",
                                          "--listen=127.0.0.1:0", "--metrics-listen=off")
        self.assertEqual(code, 1, output)

    def start_on(self, database, *flags):
        started = Broker(f"--database={database.uri}", *flags)
        self.addCleanup(started.end)
        return started

    def test_a_server_without_fsync_is_refused_unless_that_is_allowed(self):
        for setting in ("fsync", "full_page_writes"):
            with self.subTest(setting):
                careless = cluster.Cluster([f"{setting} = off"])
                self.addCleanup(careless.end)
                database = Database(careless)
                code, output = brokers.run_to_end(
                    self, f"--database={database.uri}", "--listen=127.0.0.1:0",
                    "--metrics-listen=off")
                self.assertEqual(code, 1, output)
                self.assertIn(setting, output)
                self.assertEqual(database.value("SELECT to_regnamespace('skiplane') IS NULL"), "t")
                allowed = self.start_on(database, "--allow-unsafe-durability")
                self.assertIn("unsafe_durability", allowed.output)

    def test_a_database_with_asynchronous_commit_is_used_synchronously(self):
        self.database.run(f"ALTER DATABASE {self.database.name} SET synchronous_commit = off")
        _, client = self.start()
        client.create_queue("safe")
        client.enqueue("safe", b"a")
        self.assertEqual(len(client.lease("safe")), 1)

    def test_an_embedded_database_keeps_its_tasks_over_sigkill(self):
        with tempfile.TemporaryDirectory(prefix="skiplane-embedded-") as folder:
            os.chmod(folder, 0o755)  # a root caller's cluster runs as another user
            first = Broker(f"--embedded={folder}/data", "--auto-create-queues")
            self.addCleanup(first.end)
            client = Client(first.address)
            task_id = client.enqueue("kept", b"payload")
            client.close()
            first.kill()
            second = Broker(f"--embedded={folder}/data")
            self.addCleanup(second.end)
            client = Client(second.address)
            self.addCleanup(client.close)
            [task] = client.lease("kept")
            self.assertEqual((task.task_id, task.payload), (task_id, b"payload"))
            self.assertEqual(second.terminate(), 0)


if __name__ == "__main__":
    unittest.main()
