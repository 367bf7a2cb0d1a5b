"""The command line `skiplane`, run to its end or as a process that goes on."""

import json
import os
import subprocess
import tempfile

from support.case import SystemTest
from support.process import GENEROUS_S, Process


def program():
    return os.path.join(os.environ["SKIPLANE_BUILD_DIR"], "client", "cli", "skiplane")


class CliTest(SystemTest):
    """A broker, and a command line that knows it."""

    def setUp(self):
        super().setUp()
        self.broker, self.client = self.start()
        self.environment = {**os.environ, "SKIPLANE_BROKER": self.broker.address, "TZ": "UTC",
                            "SKIPLANE_ACTOR": "tester"}

    def run_cli(self, *arguments, code=0, given=b""):
        """Runs it; its output. `given` is its standard input, which is no terminal."""
        done = subprocess.run([program(), *arguments], input=given, capture_output=True,
                              env=self.environment, timeout=GENEROUS_S, check=False)
        self.errors = done.stderr.decode(errors="replace")
        self.assertEqual(done.returncode, code,
                         f"{arguments}\n{done.stdout.decode(errors='replace')}\n{self.errors}")
        return done.stdout.decode()

    def lines(self, *arguments, **options):
        """The documents that it prints with --json."""
        return [json.loads(line)
                for line in self.run_cli(*arguments, "--json", **options).splitlines()]

    def start_cli(self, *arguments):
        process = Process([program(), *arguments], env=self.environment)
        self.addCleanup(process.end)
        return process


class MailTest(CliTest):
    """A queue, mail, and a folder."""

    def setUp(self):
        super().setUp()
        self.client.create_queue("mail")
        folder = tempfile.TemporaryDirectory(prefix="skiplane-cli-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
