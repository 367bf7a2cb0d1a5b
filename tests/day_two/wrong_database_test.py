"""Databases that are away, too old, or somebody else's: one line that says so, and nothing is
changed in them."""

import os
import select
import socket
import socketserver
import threading
import unittest

import place  # noqa: F401  (first: it finds the others)
from support import broker as brokers
from support.broker import Broker
from support.case import SystemTest, slow
from support.folder import Folder

LISTEN = ("--listen=127.0.0.1:0", "--metrics-listen=off")
TABLES = ("SELECT coalesce(string_agg(relname, ' ' ORDER BY relname), '') FROM pg_class"
          " WHERE relnamespace = 'skiplane'::regnamespace AND relkind = 'r'")


class OlderServer:
    """Between a program and the shared PostgreSQL, which says that it is of version 14."""

    def __init__(self, socket_path, number):
        older = b"14" + number.encode()[2:]

        class Handler(socketserver.BaseRequestHandler):
            def handle(self):
                with socket.socket(socket.AF_UNIX) as server:
                    server.connect(socket_path)
                    while True:
                        ready, _, _ = select.select([self.request, server], [], [])
                        for end in ready:
                            block = end.recv(65536)
                            if not block:
                                return
                            if end is server:
                                self.request.sendall(block.replace(number.encode(), older))
                            else:
                                server.sendall(block)

        self._server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def end(self):
        self._server.shutdown()
        self._server.server_close()


@slow
class WrongDatabase(SystemTest):
    is_migrated = False

    def setUp(self):
        super().setUp()
        self.files = Folder()
        self.addCleanup(self.files.remove)

    def each(self, uri, *more):
        """What is said by each that needs the schema."""
        for arguments in (LISTEN, (*LISTEN, "--no-migrate"), ("migrate",), ("migrate", "--dry-run"),
                          *more):
            with self.subTest(arguments):
                code, output = brokers.run_to_end(self, *arguments, f"--database={uri}")
                self.assertEqual(code, 1, output)
                yield output
        self.assertEqual(os.listdir(self.files.path("")), [])

    def looks(self):
        return ("doctor",), ("dump", self.files.path("new.dump"))

    def test_a_schema_of_somebody_else_is_left_alone(self):
        for table in ("orders (id int)", "task (id int)",
                      "schema_version (installed_rank int, version text)"):
            self.database.run("DROP SCHEMA IF EXISTS skiplane CASCADE; CREATE SCHEMA skiplane;"
                              f"CREATE TABLE skiplane.{table}")
            for output in self.each(self.database.uri, *self.looks()):
                self.assertIn("a schema skiplane that is not of this program", output)
                self.assertNotIn("internal error", output)
                self.assertEqual(self.database.value(TABLES), table.split()[0])

    def test_an_empty_schema_is_taken(self):
        """Its owner may have made it, for a user who may make none."""
        self.database.run("CREATE SCHEMA skiplane")
        code, output = brokers.run_to_end(self, "migrate", f"--database={self.database.uri}")
        self.assertEqual(code, 0, output)

    def test_a_server_that_is_too_old_is_told_so(self):
        number = self.database.value("SHOW server_version_num")
        folder = self.database.uri.rsplit("=", 1)[1]
        older = OlderServer(f"{folder}/.s.PGSQL.5432", number)
        self.addCleanup(older.end)
        uri = f"postgresql://skiplane@127.0.0.1:{older.port}/{self.database.name}"
        for output in self.each(uri):
            self.assertIn("has version 14; PostgreSQL 15 or newer is needed", output)
        self.assertEqual(self.database.value("SELECT to_regnamespace('skiplane') IS NULL"), "t")

    def test_a_database_that_is_away_is_told_in_whole_lines(self):
        """Also where a person is told, whose line follows those of the log."""
        for output in self.each("postgresql://skiplane@/nobody?host=/nonexistent", *self.looks()):
            self.assertIn("the database cannot be reached; nothing was changed", output)
            self.assertRegex(output.splitlines()[-1],
                             r"^(skiplaned: the database|\S+ error cannot_run why=\"the database)")

    def test_data_of_a_postgresql_that_is_not_here_is_not_touched(self):
        os.chmod(self.files.path(""), 0o755)
        flag = f"--embedded={self.files.path('data')}"
        first = Broker(flag)
        self.addCleanup(first.end)
        self.assertEqual(first.terminate(), 0)
        version = self.files.path("data/pgdata/PG_VERSION")
        with open(version, "r+", encoding="ascii") as file:
            file.write("14")
        code, output = brokers.run_to_end(self, flag, *LISTEN, "--http-listen=off")
        self.assertEqual(code, 1, output)
        self.assertIn("initialized by PostgreSQL version 14", output)


if __name__ == "__main__":
    unittest.main()
