"""The Python example of the README works as it is."""

import os
import sys
import unittest

from support import stubs
from support.case import SystemTest
from support.process import Process

EXAMPLES = os.path.join(stubs.ROOT, "client", "examples", "python")


class PythonExample(SystemTest):
    def run_example(self, name, address):
        program = Process([sys.executable, "-B", os.path.join(EXAMPLES, name), address],
                          env={"PYTHONPATH": stubs.FOLDER, "PYTHONUNBUFFERED": "1"})
        self.addCleanup(program.end)
        self.assertEqual(program.wait(), 0, program.output)
        return program.output

    def test_the_producer_and_the_worker_of_the_readme_do_their_job(self):
        broker, client = self.start("--auto-create-queues")
        said = self.run_example("producer.py", broker.address)
        task_id = said.split()[0]
        self.assertEqual(said, f"{task_id} is committed\n")
        self.assertEqual(client.state(task_id), "READY")
        client.enqueue("mail", b"second")
        said = self.run_example("worker.py", broker.address)
        self.assertEqual(said.splitlines()[0], f"attempt 1 of {task_id} b'hello'")
        self.assertEqual(len(said.splitlines()), 2)
        self.assertEqual(client.state(task_id), "SUCCEEDED")
        self.assertEqual(client.queue("mail").counts.succeeded_count, 2)


if __name__ == "__main__":
    unittest.main()
