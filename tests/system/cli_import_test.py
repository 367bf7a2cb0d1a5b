"""The import guides of CLI.md, given literally, keep every character."""

import base64
import os
import subprocess
import unittest

from support import document
from support.cli import CliTest, program
from support.mariadb import MariaDb
from support.process import GENEROUS_S

BODY = "Grüße, 5 €, 😀, tab\there, back\\slash,\nnew line"


class Import(CliTest):
    def setUp(self):
        super().setUp()
        self.client.create_queue("mail")

    def give(self, heading, code=0, **environment):
        """The guide's commands, in a locale that knows no umlauts."""
        path = os.path.dirname(program()) + ":" + os.environ["PATH"]
        done = subprocess.run(
            ["bash", "-c", document.commands("docs/CLI.md", heading)],
            capture_output=True, timeout=GENEROUS_S, check=False,
            env={**self.environment, "PATH": path, "LC_ALL": "C", **environment})
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout.decode()

    def assert_imported(self, body):
        [task] = self.lines("tasks", "list", "mail", "--full")
        self.assertEqual(base64.b64decode(task["payload"]).decode(), body)
        task = task.get("task", task)
        self.assertEqual((task["key"], task["priority"], task["schedule_time"]),
                         ("job-1", 3, "2033-01-01T00:00:00Z"))

    def test_a_table_of_mariadb(self):
        other = MariaDb()
        self.addCleanup(other.end)
        quoted = BODY.replace("\\", "\\\\")
        other.run(f"""CREATE DATABASE shop; USE shop; SET time_zone = '+00:00';
            CREATE TABLE jobs (id INT PRIMARY KEY, kind TEXT, body TEXT, priority INT,
              run_at TIMESTAMP, status TEXT) CHARACTER SET utf8mb4;
            INSERT INTO jobs VALUES (1, 'mail', '{quoted}', 3, '2033-01-01 00:00:00', 'open'),
              (2, 'mail', 'old', 3, '2033-01-01 00:00:00', 'done');""")
        for _ in range(2):  # the batch id makes a repeat the same run
            self.assertEqual(self.give("From MySQL or MariaDB", HOME=other.home),
                             "1 tasks enqueued: 1 created\n")
        self.assert_imported(BODY)

    def test_a_table_of_postgres_in_latin_1(self):
        name = self.database.name + "_latin"
        self.database.run(f"CREATE DATABASE {name} ENCODING 'LATIN1' LOCALE 'C' "
                          "TEMPLATE template0")
        self.addCleanup(self.database.run, f"DROP DATABASE {name}")
        uri = self.database.uri.replace(self.database.name, name)
        body = BODY.replace("€", "EUR").replace("😀", "ß")
        subprocess.run(["psql", uri, "-v", "ON_ERROR_STOP=1"], check=True, capture_output=True,
                       env={**os.environ, "PGCLIENTENCODING": "UTF8"}, input=f"""
            CREATE TABLE jobs (id int, kind text, body text, priority int,
              run_at timestamptz, status text);
            INSERT INTO jobs VALUES (1, 'mail', '{body}', 3, '2033-01-01Z', 'open')""".encode())
        for _ in range(2):
            self.assertEqual(self.give("From PostgreSQL", DATABASE=uri),
                             "1 tasks enqueued: 1 created\n")
        self.assert_imported(body)

    def test_a_source_that_fails_is_not_hidden_by_the_pipe(self):
        gone = self.database.uri.replace(self.database.name, self.database.name + "_gone")
        self.give("From PostgreSQL", code=2, DATABASE=gone)  # as psql says
        # No server is there: mysql ends with 1.
        self.give("From MySQL or MariaDB", code=1, HOME="/nonexistent",
                  MYSQL_UNIX_PORT="/nonexistent")


if __name__ == "__main__":
    unittest.main()
