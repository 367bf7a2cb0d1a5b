"""Payloads that clients encrypt (client/examples/encrypted) are nowhere else to be read."""

import json
import os
import subprocess
import unittest

from support.case import SystemTest
from support.client import admin_pb2, seconds, task_pb2
from support.folder import Folder
from support.process import Process

EXAMPLES = os.path.join(os.environ["SKIPLANE_BUILD_DIR"], "client", "examples", "encrypted")
CANARY = "the canary of a letter"
OLD, NEW = "2026-10 " + "1f" * 32 + "\n", "2026-11 " + "e7" * 32 + "\n"


class Encrypted(SystemTest):
    def setUp(self):
        super().setUp()
        self.files = Folder()
        self.addCleanup(self.files.remove)
        self.broker, self.client = self.start("--log-level=debug")
        self.client.create_queue("letters", keep_payloads=True, keep_results=True,
                                 retry={"max_attempts": 3, "kind": "RETRY_KIND_FIXED",
                                        "base_delay": seconds(0)})

    def command(self, name, keys):
        path = self.files.write("keys", "".join(keys))
        os.chmod(path, 0o600)
        return [os.path.join(EXAMPLES, f"skiplane_example_encrypted_{name}"),
                self.broker.address, path]

    def start_reader(self, *keys):
        worker = Process(self.command("worker", keys))
        self.addCleanup(worker.end)
        return worker

    def put(self, letter, *keys):
        said = subprocess.run(self.command("producer", keys), input=letter, capture_output=True,
                              text=True, check=True).stdout
        return said.split()[0]

    def wait_until(self, task_id, state):
        task = self.client.admin.GetTask(admin_pb2.GetTaskRequest(
            task_id=task_id, wait=seconds(60), view="TASK_VIEW_FULL"), timeout=90).task
        self.assertEqual(task_pb2.TaskState.Name(task.state), f"TASK_STATE_{state}")
        return task

    def assert_unread(self):
        """The letter is in no row, no line of the log and no metric."""
        dump = subprocess.run(["pg_dump", f"--dbname={self.database.uri}", "--data-only"],
                              capture_output=True, check=True).stdout
        self.assertGreater(len(dump), 1000)
        page = json.dumps(self.broker.metrics()).encode()
        for place in (dump, self.broker.output.encode(), page):
            for form in (CANARY.encode(), CANARY.encode().hex().encode()):
                self.assertNotIn(form, place)

    def test_nobody_but_producer_and_worker_reads_a_letter(self):
        task_id = self.put(CANARY, OLD)
        self.assert_unread()
        worker = self.start_reader(OLD)
        task = self.wait_until(task_id, "SUCCEEDED")
        worker.wait_for_output(f"attempt 1: {CANARY}\n")
        self.assertIn(b"aes-256-gcm;key=2026-10", task.result)
        self.database.eventually("SELECT count(*) FROM skiplane.history", "1")
        self.assertEqual(self.client.queue("archive").counts.ready_count, 1)
        self.assert_unread()

    def test_a_dead_letter_stays_encrypted_and_runs_again_once_there_is_a_key(self):
        task_id = self.put(CANARY, NEW)
        worker = self.start_reader(OLD)
        task = self.wait_until(task_id, "FAILED")
        self.assertEqual(task.last_error.type, "CONTENT_NOT_DECODED")
        self.assertIn(b"no key here for content of aes-256-gcm;key=2026-11", task.last_error.text)
        worker.wait_for_output("no key here", times=3)
        self.assertNotIn("attempt", worker.output)
        self.assert_unread()
        worker.end()
        worker = self.start_reader(NEW, OLD)
        self.client.admin.RetryTask(admin_pb2.RetryTaskRequest(task_id=task_id), timeout=90)
        worker.wait_for_output(CANARY)
        self.wait_until(task_id, "SUCCEEDED")
        old = self.put("an older letter", OLD)
        self.wait_until(old, "SUCCEEDED")
        self.assert_unread()

    def test_a_letter_that_somebody_changed_is_given_to_no_handler(self):
        changed = self.put("another", OLD)
        self.database.run("UPDATE skiplane.task SET payload ="
                          " set_byte(payload, 20, (get_byte(payload, 20) + 1) % 256)")
        whole = self.put(CANARY, OLD)
        self.client.enqueue("letters", b"by a stranger")
        self.database.run("UPDATE skiplane.task SET max_attempts = 1")
        worker = self.start_reader(OLD)
        task = self.wait_until(changed, "FAILED")
        self.assertIn(b"was changed", task.last_error.text)
        self.wait_until(whole, "SUCCEEDED")
        worker.wait_for_output("nobody encrypted")
        self.assertNotIn("stranger", worker.output)
        self.assertEqual(worker.output.count("attempt 1"), 1)


if __name__ == "__main__":
    unittest.main()
