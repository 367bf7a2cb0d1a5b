"""`skiplaned dump` and `restore`: all that a database holds, into another one."""

import os
import signal
import unittest

from support import broker as brokers
from support import cluster
from support.broker import Broker
from support.case import SystemTest
from support.client import Client
from support.database import Database, run_sql
from support.folder import Folder
from support.process import Process


class Dumps(SystemTest):
    def setUp(self):
        super().setUp()
        self.files = Folder()
        self.addCleanup(self.files.remove)
        self.file = self.files.path("queue.dump")

    def database_flag(self, database=None):
        return f"--database={(database or self.database).uri}"

    def succeed(self, *arguments):
        code, output = brokers.run_to_end(self, *arguments)
        self.assertEqual(code, 0, output)
        return output

    def fail(self, word, *arguments):  # pylint: disable=arguments-differ
        code, output = brokers.run_to_end(self, *arguments)
        self.assertEqual(code, 1, output)
        self.assertTrue(output.splitlines()[-1].startswith("skiplaned: "), output)
        self.assertIn(word, output)

    def other_database(self):
        """An empty one."""
        other = Database(cluster.shared(), "template0")
        self.addCleanup(other.drop)
        return other

    def fill(self, client):
        """One task of each kind; who holds the leased one."""
        client.create_queue("mail")
        client.enqueue_all("mail", [client.new_task(payload=b"\0\xff") for _ in range(40)])
        client.enqueue("mail", key="kept", delay={"seconds": 3600})
        failed, leased = client.lease("mail", max_tasks=2)
        client.nack(failed, "FAIL")
        return leased

    def kept(self, database):
        return database.run(
            "SELECT 'task', lane, id::text, encode(payload, 'hex') FROM skiplane.task UNION ALL "
            "SELECT 'pack', lane, id::text, md5(payloads::text) FROM skiplane.task_pack UNION ALL "
            "SELECT 'failed', lane, id::text, error_type FROM skiplane.task_failed UNION ALL "
            "SELECT 'key', lane, key, task_id::text FROM skiplane.task_key UNION ALL "
            "SELECT 'queue', id, name, settings::text FROM skiplane.queue ORDER BY 1, 2, 3")

    def test_all_is_there_again_and_leases_go_on(self):
        broker, client = self.start()
        leased = self.fill(client)
        self.succeed("dump", self.file, self.database_flag())  # while the broker runs
        self.assertTrue(broker.runs())
        self.assertEqual(os.stat(self.file).st_mode & 0o777, 0o600)
        other = self.other_database()
        output = self.succeed("restore", self.file, self.database_flag(other))
        self.assertIn("restored", output)
        self.assertEqual(self.kept(other), self.kept(self.database))
        second = Broker(self.database_flag(other), "--no-migrate")
        self.addCleanup(second.end)
        there = self.client_of(second)
        there.ack(leased)
        counts = there.queue("mail").counts
        self.assertEqual((counts.ready_count, counts.scheduled_count, counts.failed_count,
                          counts.succeeded_count), (38, 1, 1, 1))
        self.assertEqual(there.lease("mail")[0].payload, b"\0\xff")

    def test_rights_are_those_of_before(self):
        self.start()
        self.succeed("dump", self.file, self.database_flag())
        other = self.other_database()
        self.succeed("restore", self.file, self.database_flag(other))
        rights = ("SELECT p.oid::regprocedure::text, has_function_privilege('public', p.oid, "
                  "'EXECUTE'), has_function_privilege('skiplane_broker', p.oid, 'EXECUTE') "
                  "FROM pg_proc p WHERE pronamespace = 'skiplane'::regnamespace ORDER BY 1")
        self.assertEqual(other.run(rights), self.database.run(rights))
        # Else functions that run as their owner run as the superuser who restored them.
        owners = ("SELECT p.oid::regprocedure::text, p.proowner::regrole FROM pg_proc p "
                  "WHERE p.pronamespace = 'skiplane'::regnamespace UNION ALL "
                  "SELECT c.oid::regclass::text, c.relowner::regrole FROM pg_class c "
                  "WHERE c.relnamespace = 'skiplane'::regnamespace UNION ALL "
                  "SELECT n.nspname, n.nspowner::regrole FROM pg_namespace n "
                  "WHERE n.nspname = 'skiplane' ORDER BY 1")
        self.assertEqual(other.run(owners), self.database.run(owners))
        self.assertEqual({row[1] for row in other.run(owners)}, {"skiplane_owner"})

    def test_what_is_there_is_left_alone(self):
        self.start()
        self.files.write("queue.dump", "mine")
        self.fail("is there already", "dump", self.file, self.database_flag())
        with open(self.file, encoding="utf-8") as file:
            self.assertEqual(file.read(), "mine")
        self.fail("is no dump", "restore", self.file, self.database_flag(self.other_database()))
        os.remove(self.file)
        self.files.write("queue.dump.partial", "of another dump")
        self.fail("is there already", "dump", self.file, self.database_flag())
        self.assertEqual(self.files.read("queue.dump.partial"), b"of another dump")
        os.remove(self.files.path("queue.dump.partial"))
        self.succeed("dump", self.file, self.database_flag())
        self.fail("holds the schema skiplane already", "restore", self.file, self.database_flag())
        self.fail("No such file", "restore", self.files.path("none"), self.database_flag())
        self.fail("nothing to dump", "dump", self.files.path("empty"),
                  self.database_flag(self.other_database()))
        self.assertFalse(os.path.exists(self.files.path("empty")))

    def test_of_a_newer_dump_nothing_is_left(self):
        self.start()
        self.database.run("INSERT INTO skiplane.schema_version (version, name) "
                          "SELECT max(version) + 1, 'of_tomorrow' FROM skiplane.schema_version")
        self.succeed("dump", self.file, self.database_flag())
        other = self.other_database()
        self.fail("use a newer one", "restore", self.file, self.database_flag(other))
        self.assertEqual(other.value("SELECT to_regnamespace('skiplane') IS NULL"), "t")

    def test_who_is_asked_to_end_leaves_nothing(self):
        held = self.database.hold("LOCK TABLE skiplane.task")  # the dump waits for it
        self.addCleanup(held.release)
        program = Process([brokers.program(), "dump", self.file, self.database_flag()])
        self.addCleanup(program.end)
        self.database.wait_for_lock_wait()
        program.signal(signal.SIGTERM)
        self.assertEqual(program.wait(), 1)
        self.assertIn("asked to end", program.output)
        self.assertEqual(os.listdir(self.files.path("")), [])


class EmbeddedDumps(unittest.TestCase):
    def setUp(self):
        self.files = Folder(for_all=True)
        self.addCleanup(self.files.remove)

    def succeed(self, *arguments):
        code, output = brokers.run_to_end(self, *arguments)
        self.assertEqual(code, 0, output)

    def test_from_one_that_runs_into_a_new_one(self):
        first = Broker(f"--embedded={self.files.path('first')}", "--auto-create-queues")
        self.addCleanup(first.end)
        client = Client(first.address)
        self.addCleanup(client.close)
        client.enqueue("mail", payload=b"letter")
        dump = self.files.path("queue.dump")
        self.succeed("dump", dump, f"--embedded={self.files.path('first')}")
        self.assertTrue(first.runs())
        self.succeed("restore", dump, f"--embedded={self.files.path('second')}")
        second = Broker(f"--embedded={self.files.path('second')}")
        self.addCleanup(second.end)
        there = Client(second.address)
        self.addCleanup(there.close)
        self.assertEqual(there.lease("mail")[0].payload, b"letter")
        roles = run_sql(second.database_uri, "SELECT count(*) FROM pg_roles WHERE rolname ~ "
                                             "'^skiplane_(owner|broker|producer|reader)$'")
        self.assertEqual(roles[0][0], "4")


if __name__ == "__main__":
    unittest.main()
