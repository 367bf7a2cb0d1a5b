"""What a broker looks at before it touches the database, and who is let in meanwhile."""

import json
import os
import socket
import tempfile
import unittest

from support import broker as brokers
from support.case import SystemTest
from support.process import Process

MIGRATION_LOCK = "SELECT pg_advisory_xact_lock(8316857068445331045)"


class Start(SystemTest):
    is_migrated = False

    def setUp(self):
        super().setUp()
        self.taken = brokers.listen_where_nobody_is_put()
        self.addCleanup(self.taken.close)
        self.taken_address = f"127.0.0.1:{self.taken.getsockname()[1]}"

    def assert_untouched(self, *flags, code=1):
        """The broker ends because of the flags, before the database or a cluster was changed."""
        ended, output = brokers.run_to_end(self, f"--database={self.database.uri}", *flags)
        self.assertEqual(ended, code, output)
        self.assertEqual(self.database.value("SELECT to_regnamespace('skiplane') IS NULL"), "t")
        with tempfile.TemporaryDirectory(prefix="skiplane-embedded-") as folder:
            os.chmod(folder, 0o755)
            ended, other_output = brokers.run_to_end(self, f"--embedded={folder}/data", *flags)
            self.assertEqual(ended, code, other_output)
            if os.path.exists(f"{folder}/data"):
                self.assertEqual(os.listdir(f"{folder}/data"), ["lock"])
        return output

    def test_a_port_that_is_taken_is_found_before_the_database_is_touched(self):
        output = self.assert_untouched(f"--listen={self.taken_address}", "--metrics-listen=off")
        self.assertIn(f"cannot listen on {self.taken_address}: Address already in use;"
                      " --listen chooses another address", output)

    def test_so_is_one_of_the_metrics_page(self):
        output = self.assert_untouched("--listen=127.0.0.1:0",
                                       f"--metrics-listen={self.taken_address}")
        self.assertIn(f"cannot serve metrics on {self.taken_address}", output)
        self.assertIn("; --metrics-listen chooses another address", output)

    def test_so_is_one_that_both_are_to_have(self):
        self.taken.close()
        output = self.assert_untouched(f"--listen={self.taken_address}",
                                       f"--metrics-listen={self.taken_address}")
        self.assertIn(f"cannot listen on {self.taken_address}", output)

    def test_so_are_tls_files(self):
        output = self.assert_untouched(
            "--listen=127.0.0.1:0", "--metrics-listen=off", f"--tls-cert={__file__}",
            f"--tls-key={__file__}", code=2)
        self.assertIn(f"no certificate in PEM form: {__file__}", output)

    def test_the_serving_line_tells_what_runs_where_as_an_object_too(self):
        program = Process([brokers.program(), f"--database={self.database.uri}",
                           "--listen=127.0.0.1:0", "--metrics-listen=127.0.0.1:0",
                           "--log-format=json"])
        self.addCleanup(program.end)
        program.wait_for_output('"event":"serving"')
        self.assertEqual(program.terminate(), 0)
        lines = [json.loads(line) for line in program.output.splitlines()]
        [serving] = [line for line in lines if line["event"] == "serving"]
        self.assertEqual((serving["level"], serving["listen"], serving["metrics_listen"],
                          serving["tls"], serving["directory"]),
                         ("info", "127.0.0.1:0", "127.0.0.1:0", "off", ""))
        for port in ("port", "metrics_port"):
            self.assertGreater(int(serving[port]), 0)
        self.assertRegex(serving["commit"], r"^\w+$")
        self.assertRegex(serving["database"],
                         rf"^{self.database.name} at .+, PostgreSQL [\d.]+.*, schema \d+$")

    def test_callers_are_refused_until_the_broker_can_answer(self):
        self.taken.close()
        lock = self.database.hold(MIGRATION_LOCK)
        program = Process([brokers.program(), f"--database={self.database.uri}",
                           f"--listen={self.taken_address}", "--metrics-listen=off"])
        self.addCleanup(program.end)
        self.database.wait_for_lock_wait()
        with self.assertRaises(ConnectionRefusedError):
            socket.create_connection(self.taken_address.rsplit(":", 1)).close()
        lock.release()
        program.wait_for_output(" serving ")
        socket.create_connection(self.taken_address.rsplit(":", 1)).close()
        self.assertEqual(program.terminate(), 0)


if __name__ == "__main__":
    unittest.main()
