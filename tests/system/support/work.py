"""A worker of any program, and programs that hang."""

import os
import select
import signal

from support.cli import MailTest
from support.process import GENEROUS_S


class WorkTest(MailTest):
    def work(self, script, *options):
        worker = self.start_cli("work", "mail", *options, "--", "sh", "-c", script)
        worker.wait_for_output("skiplane: working")
        return worker

    def end(self, worker, counts):
        worker.signal(signal.SIGTERM)
        self.assertEqual(worker.wait(), 0, worker.output)
        self.assertIn(f"skiplane: {counts}\n", worker.output)

    def error_of(self, task_id):
        error = self.client.task(task_id).last_error
        return error.type, error.text.decode()

    # Of a task whose payload is a path: its program and a child hang, and hold the fifo open.
    HANG = 'read path; case "$path" in /*) exec 9>"$path"; echo begun >&9; sleep 301; true;; esac'

    def put_hanging(self, **fields):
        """A task that hangs; its id and its fifo."""
        path = os.path.join(self.folder, f"fifo{len(os.listdir(self.folder))}")
        os.mkfifo(path)
        fifo = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, fifo)
        return self.client.enqueue("mail", path.encode() + b"\n", **fields), fifo

    def wait_for(self, fifo, event):
        poll = select.poll()
        poll.register(fifo, select.POLLIN)
        [(_, events)] = poll.poll(GENEROUS_S * 1000)
        self.assertTrue(events & event, events)

    def assert_works(self, fifo):
        self.wait_for(fifo, select.POLLIN)
        self.assertEqual(os.read(fifo, 100), b"begun\n")

    def assert_nobody_works(self, fifo):
        """Neither the program nor a child of it is left."""
        self.wait_for(fifo, select.POLLHUP)

    def assert_succeeded(self, count):
        self.database.eventually(
            "SELECT sum(succeeded) FROM (SELECT succeeded FROM skiplane.counter UNION ALL "
            "SELECT succeeded FROM skiplane.counter_delta) c", str(count))
