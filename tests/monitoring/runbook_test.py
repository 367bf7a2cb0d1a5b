"""The commands of each entry of the runbook, given literally, run to a good end."""

import os
import re
import subprocess
import unittest

import place
from support import cli, document
from support.cli import CliTest
from support.client import seconds
from support.process import GENEROUS_S

DOCUMENT = "docs/RUNBOOK.md"


def entries():
    with open(os.path.join(place.ROOT, DOCUMENT), encoding="utf-8") as file:
        return re.findall(r"(?m)^## (\w+)$", file.read())


class Runbook(CliTest):
    def setUp(self):
        super().setUp()
        self.client.create_queue("mail")
        self.client.enqueue_all("mail", [{} for _ in range(3)])
        failed, done, _ = self.client.lease("mail", max_tasks=3, worker_id="w")
        self.client.nack(failed, "FAIL")
        self.client.ack(done)
        self.client.enqueue("mail", period=seconds(3600), key="hourly")
        self.environment.update({
            "DATABASE": self.database.uri, "METRICS": self.broker.metrics_address,
            "PATH": os.path.dirname(cli.program()) + ":" + os.environ["PATH"]})

    def test_the_commands_of_each_entry_run(self):
        self.assertGreater(len(entries()), 20)
        for entry in entries():
            with self.subTest(entry):
                commands = re.sub(r"\bQUEUE\b", "mail", document.commands(DOCUMENT, entry))
                done = subprocess.run(
                    ["bash", "-e", "-u", "-o", "pipefail", "-c", commands], check=False,
                    capture_output=True, text=True, env=self.environment, timeout=GENEROUS_S)
                self.assertEqual(done.returncode, 0, (commands, done.stdout, done.stderr))


if __name__ == "__main__":
    unittest.main()
