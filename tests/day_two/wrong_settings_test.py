"""Settings, files and ports that are wrong: one line that names them, and nothing is begun."""

import os
import unittest

import place  # noqa: F401  (first: it finds the others)
from support import broker as brokers
from support.broker import Broker, listen_where_nobody_is_put
from support.case import SystemTest, slow
from support.folder import Folder
from support.process import Process

SUBCOMMANDS = ((), ("check-config",), ("migrate",), ("doctor",), ("dump", "FILE"),
               ("restore", "FILE"))
# A line of the file of settings, and what is said of it behind the file and the number of the line.
WRONG_LINES = {
    "lissten = 127.0.0.1:0": "there is no setting lissten",
    "config = other": "a file cannot set config",
    "no equals sign": "must be 'name = value'",
    "listen = 127.0.0.1:70000": "listen: must be HOST:PORT",
    "metrics-listen =": "metrics-listen: has no value",
    "database-connections = 65": "database-connections: Value 65 not in range 2 to 64",
    "max-connections = many": "max-connections: ",
    "drain-timeout = 8 parsecs": "drain-timeout: must be a duration from 0s to 5m",
    "no-migrate = perhaps": "no-migrate: must be true or false",
    "log-level = loud": "log-level: must be debug, info, warn or error",
    "tls-cert = /nonexistent": "tls-cert: File does not exist: /nonexistent",
    "rules-file = /": "rules-file: / is no file",
    "log-level = info\nlog-level = warn": "log-level: stands in line 2 already",
}


@slow
class WrongSettings(SystemTest):
    is_migrated = False

    def setUp(self):
        super().setUp()
        self.files = Folder(for_all=True)
        self.addCleanup(self.files.remove)

    def refused(self, *arguments, code=2):
        """The one line of it, and that nothing was made."""
        ended, output = brokers.run_to_end(self, *arguments)
        self.assertEqual(ended, code, output)
        self.assertEqual(self.database.value("SELECT to_regnamespace('skiplane') IS NULL"), "t")
        return output

    def test_a_wrong_line_is_named_whatever_is_asked_for(self):
        for wrong, said in WRONG_LINES.items():
            file = self.files.write("settings", f"# Of a broker.\n{wrong}\n")
            number = 2 + wrong.count("\n")
            for subcommand in SUBCOMMANDS if "lissten" in wrong else ((), ("check-config",)):
                with self.subTest((wrong, subcommand)):
                    output = self.refused(*subcommand, f"--config={file}",
                                          f"--database={self.database.uri}")
                    self.assertIn(f"skiplaned: {file} line {number}: {said}",
                                  output.splitlines()[0])
        self.assertEqual(os.listdir(self.files.path("")), ["settings"])

    def test_a_file_that_cannot_be_read_is_named_with_its_flag(self):
        database = f"--database={self.database.uri}"
        empty = self.files.write("empty", "")
        for arguments, said in (
                ((database, "--config=/nonexistent"), "--config: File does not exist"),
                ((database, "--config=/"), "--config: / is no file"),
                (("--database-file=/nonexistent",), "--database-file: File does not exist"),
                ((f"--database-file={empty}",), "--database-file: the first line of"),
                ((database, f"--token-file={empty}x"), "--token-file: File does not exist"),
                ((database, f"--tls-cert={empty}", f"--tls-key={empty}"), f"PEM form: {empty}")):
            with self.subTest(arguments):
                self.assertIn(said, self.refused(*arguments))

    def test_a_file_of_another_account_is_told_as_that(self):
        """And not as one that is missing, or has the wrong content."""
        file = self.files.write("secret", "postgresql:///x\n")
        os.chmod(file, 0)
        for flags in (("--config",), ("--database-file",), ("--database=postgresql:///x",
                                                            "--token-file")):
            with self.subTest(flags):
                program = Process([brokers.program(), "check-config", *flags[:-1],
                                   f"{flags[-1]}={file}"], user="postgres")
                self.addCleanup(program.end)
                self.assertEqual(program.wait(), 2, program.output)
                self.assertIn(f"{flags[-1]}: {file} cannot be read: Permission denied",
                              program.output)

    def test_a_ready_file_that_cannot_be_written_is_found_before_the_database_is_touched(self):
        for file in ("/nonexistent/ready", self.files.path("")):
            output = self.refused(f"--database={self.database.uri}", "--listen=127.0.0.1:0",
                                  "--metrics-listen=off", f"--ready-file={file}", code=1)
            self.assertIn("--ready-file: ", output)
        self.assertEqual(os.listdir(self.files.path("")), [])

    def test_a_port_of_http_that_is_taken_is_found_before_the_database_is_touched(self):
        with listen_where_nobody_is_put() as taken:
            address = f"127.0.0.1:{taken.getsockname()[1]}"
            output = self.refused(f"--database={self.database.uri}", "--listen=127.0.0.1:0",
                                  "--metrics-listen=off", f"--http-listen={address}", code=1)
            self.assertIn(f"{address}: Address already in use", output)

    def test_a_reload_of_what_is_wrong_keeps_what_was_right(self):
        """Each kind of file in turn; the broker says which, and where in it."""
        self.files.make_pair("own")
        right = {"rules": "allow everyone to all on *\n", "tokens": f"ci sha256:{'0' * 64}\n",
                 "own.crt": self.files.read("own.crt").decode()}
        for name, text in right.items():
            self.files.write(name, text)
        path = self.files.path
        broker = Broker(f"--database={self.database.uri}", f"--token-file={path('tokens')}",
                        f"--rules-file={path('rules')}", f"--tls-cert={path('own.crt')}",
                        f"--tls-key={path('own.key')}", is_awaited=False)
        self.addCleanup(broker.end)
        for number, (name, wrong, said) in enumerate((
                ("rules", "allow everyone to fly on *\n", "rules line 1"),
                ("tokens", "ci\n", "tokens line 1"), ("own.crt", "none", "own.crt"))):
            with self.subTest(name):
                self.files.write(name, wrong)  # which it finds by itself
                broker.wait_for_output("error reload_failed ", times=number + 1)
                self.assertIn(said, broker.output.splitlines()[-1])
                self.files.write(name, right[name])
                broker.wait_for_output("info reloaded ", times=number + 1)
        self.assertEqual(broker.terminate(), 0)


if __name__ == "__main__":
    unittest.main()
