"""The examples of the README and those of client/examples work as they are."""

import os
import sys
import unittest

from support import document, stubs
from support.case import SystemTest
from support.process import Process

EXAMPLES = os.path.join(stubs.ROOT, "client", "examples", "python")
README = "README.md"
ADDRESS = "127.0.0.1:7070"  # where a reader's broker listens


class Readme(SystemTest):
    def start_block(self, broker, number):
        """The block of Python below the README's heading, as a program."""
        code = document.commands(README, "Python", number)
        self.assertIn(ADDRESS, code)
        program = Process([sys.executable, "-B", "-c", code.replace(ADDRESS, broker.address)],
                          env={"PYTHONPATH": stubs.FOLDER, "PYTHONUNBUFFERED": "1"})
        self.addCleanup(program.end)
        return program

    def test_the_producer_and_the_worker_in_python(self):
        broker, client = self.start()
        for said in ("is committed", "is known"):
            producer = self.start_block(broker, 1)
            self.assertEqual(producer.wait(), 0, producer.output)
            self.assertIn(said, producer.output)
        task_id = producer.output.split()[0]
        self.assertEqual(client.state(task_id), "READY")
        worker = self.start_block(broker, 2)
        worker.wait_for_output("attempt 1 hello\n")
        self.database.eventually("SELECT count(*) FROM skiplane.task", "0")
        self.assertEqual(client.state(task_id), "SUCCEEDED")

    def test_what_it_shows_in_cpp_is_what_is_built(self):
        for number, name in enumerate(("producer.cc", "worker.cc", "orders_test.cc")):
            with open(os.path.join(stubs.ROOT, "client", "examples", name),
                      encoding="utf-8") as file:
                built = [line.strip() for line in file]
            for line in document.commands(README, "C++", number).splitlines():
                self.assertIn(line.strip(), built)


class CppExample(SystemTest):
    def start_example(self, name, broker):
        path = os.path.join(os.environ["SKIPLANE_BUILD_DIR"], "client", "examples",
                            f"skiplane_example_{name}")
        program = Process([path, broker.address])
        self.addCleanup(program.end)
        return program

    def test_the_producer_and_the_worker_of_the_readme_do_their_job(self):
        broker, client = self.start()
        for said in ("is committed", "is known"):
            producer = self.start_example("producer", broker)
            self.assertEqual(producer.wait(), 0, producer.output)
            task_id, what = producer.output.split(maxsplit=1)
            self.assertEqual(what, f"{said}\n")
        self.assertEqual(client.state(task_id), "READY")
        worker = self.start_example("worker", broker)
        self.database.eventually("SELECT count(*) FROM skiplane.task", "0")
        self.assertEqual(client.state(task_id), "SUCCEEDED")
        worker.tell("")  # Enter
        self.assertEqual(worker.wait(), 0, worker.output)
        self.assertEqual(worker.output, "attempt 1: hello\n")


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
