"""Dumps that are broken or not of Skiplane, places that are not empty or have no room, and people
who change their mind: one line that says so, and nothing is left."""

import os
import signal
import subprocess
import unittest

import place  # noqa: F401  (first: it finds the others)
from support import broker as brokers
from support import cluster
from support.broker import Broker
from support.case import SystemTest, slow
from support.database import Database
from support.folder import Folder
from support.process import Process

IS_EMPTY = "SELECT to_regnamespace('skiplane') IS NULL"


@slow
class WrongDump(SystemTest):
    def setUp(self):
        super().setUp()
        self.files = Folder(for_all=True)
        self.addCleanup(self.files.remove)
        self.empty = Database(cluster.shared())
        self.addCleanup(self.empty.drop)
        self.file = self.files.path("queue.dump")

    def dump(self):
        code, output = brokers.run_to_end(self, "dump", self.file,
                                          f"--database={self.database.uri}")
        self.assertEqual(code, 0, output)

    def pg_dump(self, name, database, *options):
        subprocess.run(["pg_dump", f"--dbname={database.uri}", f"--file={self.files.path(name)}",
                        *options], check=True)

    def assert_refused(self, said, *arguments):
        code, output = brokers.run_to_end(self, *arguments)
        self.assertEqual(code, 1, output)
        self.assertTrue(output.splitlines()[-1].startswith("skiplaned: "), output)
        self.assertIn(said, output)

    def assert_not_restored(self, name, said, uri=None):
        self.assert_refused(said, "restore", self.files.path(name),
                            f"--database={uri or self.empty.uri}")
        self.assertEqual(self.empty.value(IS_EMPTY), "t")

    def test_a_file_that_is_no_whole_dump_restores_nothing(self):
        self.dump()
        whole = self.files.read("queue.dump")
        for name, content in (("empty", b""), ("noise", os.urandom(5000)), ("text", b"SELECT 1;\n"),
                              ("contents", whole[:2000]), ("half", whole[:len(whole) // 2])):
            with self.subTest(name):
                with open(self.files.path(name), "wb") as file:
                    file.write(content)
                self.assert_not_restored(name, f"{name} is no dump: ")
        with open(self.files.path("cut"), "wb") as file:
            file.write(whole[:-20])
        self.assert_not_restored("cut", "Nothing was restored")
        os.mkdir(self.files.path("folder"))
        self.assert_not_restored("folder", "folder is no dump: ")

    def test_a_dump_of_something_else_restores_nothing(self):
        self.empty.run("CREATE TABLE public.orders (id int)")
        self.pg_dump("foreign", self.empty, "--format=custom")
        self.pg_dump("plain", self.database, "--schema=skiplane")
        self.assert_not_restored("foreign", "is a dump, but not of Skiplane")
        self.assert_not_restored("plain", "is no dump: ")
        self.empty.run("DROP TABLE public.orders")
        for make, drop in (("TABLE public.orders (id int)", "TABLE public.orders"),
                           ("FUNCTION public.one() RETURNS int LANGUAGE sql RETURN 1",
                            "FUNCTION public.one"), ("SCHEMA other", "SCHEMA other")):
            self.database.run(f"CREATE {make}")
            self.pg_dump("whole", self.database, "--format=custom")
            self.database.run(f"DROP {drop}")
            self.assert_not_restored("whole", "whole holds what is of others, too")
            self.empty.run(f"CREATE {make}")  # which is not there

    def test_a_role_without_rights_restores_nothing(self):
        self.dump()
        self.empty.run(f"CREATE ROLE {self.empty.name} LOGIN")
        self.addCleanup(self.database.run, f"DROP ROLE {self.empty.name}")
        self.assert_not_restored("queue.dump", "permission denied for database",
                                 self.empty.uri_as(self.empty.name))

    def test_who_interrupts_a_restore_finds_the_place_as_it_was(self):
        self.dump()
        held = self.empty.hold("CREATE SCHEMA skiplane")  # the restore waits for its end
        self.addCleanup(held.release)
        program = Process([brokers.program(), "restore", self.file, f"--database={self.empty.uri}"])
        self.addCleanup(program.end)
        self.empty.eventually("SELECT count(*) > 0 FROM pg_stat_activity WHERE"
                              " application_name = 'pg_restore' AND wait_event_type = 'Lock'"
                              " AND datname = current_database()")
        program.signal(signal.SIGINT)
        self.assertEqual(program.wait(), 1)
        self.assertIn("asked to end", program.output)
        self.empty.eventually("SELECT count(*) = 0 FROM pg_stat_activity WHERE"
                              " application_name = 'pg_restore' AND datname = current_database()")
        self.assertEqual(self.empty.value(IS_EMPTY), "t")

    def test_a_disk_that_is_full_leaves_no_file(self):
        disk = self.files.path("disk")
        os.mkdir(disk)
        mount = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk],
                               capture_output=True, text=True, check=False)
        if mount.returncode != 0:
            self.skipTest(f"no small disk can be mounted: {mount.stderr.strip()}")
        self.addCleanup(subprocess.run, ["umount", disk], check=True)
        self.assert_refused("No space left", "dump", f"{disk}/queue.dump",
                            f"--database={self.database.uri}")
        self.assertEqual(os.listdir(disk), [])

    def test_a_folder_that_is_not_there_is_named(self):
        name = self.files.path("none/queue.dump")
        self.assert_refused(f"{name}.partial: No such file or directory", "dump", name,
                            f"--database={self.database.uri}")

    def test_an_embedded_database_that_holds_something_is_left_alone(self):
        self.dump()
        flag = f"--embedded={self.files.path('data')}"
        broker = Broker(flag)
        self.addCleanup(broker.end)
        self.assert_refused(f"in use by another broker (process {broker.pid})", "restore",
                            self.file, flag)
        self.assertEqual(broker.terminate(), 0)
        self.assert_refused("holds the schema skiplane already", "restore", self.file, flag)


if __name__ == "__main__":
    unittest.main()
