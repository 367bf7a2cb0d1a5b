"""The examples by `curl` in the documents work as they are."""

import json
import subprocess
import unittest

from support import document
from support.http_case import HttpTest
from support.process import GENEROUS_S

DOCUMENT = "docs/PROTOCOL.md"
ADDRESS = "127.0.0.1:7080"  # where a reader's broker listens


class Readme(HttpTest):
    def test_a_shell_is_producer_and_worker(self):
        block = document.commands("README.md", "curl")
        self.assertIn(ADDRESS, block)
        said = subprocess.run(
            ["bash", "-eu", "-c", block.replace(ADDRESS, self.broker.http_address)], check=True,
            capture_output=True, text=True, timeout=GENEROUS_S).stdout
        queue, enqueued, lease, acked = (json.loads(line) for line in said.splitlines())
        self.assertEqual(queue["queue"]["name"], "mail")
        [task] = lease["tasks"]
        self.assertEqual((task["taskId"], task["payload"]),
                         (enqueued["results"][0]["taskId"], "aGVsbG8="))
        self.assertEqual(acked["results"][0]["outcome"], "SETTLE_OUTCOME_SETTLED")


class Document(HttpTest):
    def test_its_calls_by_curl_are_answered(self):
        block = document.commands(DOCUMENT, "HTTP and JSON")
        calls = block.replace("\\\n", " ").strip().split("\n")
        answers = [json.loads(subprocess.run(
            ["bash", "-c", call.replace(ADDRESS, self.broker.http_address) + " -sS -f"],
            check=True, capture_output=True).stdout) for call in calls]
        queue, enqueued, lease = answers
        self.assertEqual(queue["queue"]["name"], "letters")
        self.assertEqual(lease["tasks"][0]["taskId"], enqueued["results"][0]["taskId"])


if __name__ == "__main__":
    unittest.main()
