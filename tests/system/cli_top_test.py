"""`skiplane top` on a terminal and without one."""

import signal
import termios
import unittest

from support.cli import CliTest
from support.process import GENEROUS_S
from support.terminal import Terminal

LEFT = b"\x1b[?25h\x1b[?1049l"  # the cursor is back, and the page that was there before


class Top(CliTest):
    def setUp(self):
        super().setUp()
        for queue in ("mail", "sms"):
            self.client.create_queue(queue)
        self.client.enqueue_all("mail", [{}] * 3)

    def start_top(self, *options, rows=24):
        terminal = Terminal(["top", *options], self.environment, rows)
        self.addCleanup(terminal.end)
        return terminal

    def check_given_back(self, terminal):
        terminal.wait_for(LEFT)
        self.assertEqual(terminal.process.wait(GENEROUS_S), 0)
        self.assertEqual(termios.tcgetattr(terminal.theirs), terminal.before)

    def test_it_is_told_once_without_a_terminal(self):
        self.client.lease("mail", worker_name="host:1")
        totals, _, head, first, second, _, _, worker = self.run_cli("top").splitlines()
        self.assertEqual(totals, "2 queues: 2 ready, 1 leased, 0 failed; 1 workers")
        self.assertEqual(head.split()[:4], ["QUEUE", "SCHEDULED", "READY", "LEASED"])
        self.assertEqual((first.split()[0], second.split()[0]), ("mail", "sms"))
        self.assertEqual(worker.split()[0], "host:1")
        *_, last = self.run_cli("top", "--once", "--sort", "ready").rstrip().split("\n\n")[1] \
            .splitlines()
        self.assertEqual(last.split()[0], "mail")

    def test_a_wrong_column_is_answered_by_the_right_ones(self):
        self.run_cli("top", "--sort", "size", code=2)
        self.assertIn("There are: queue, scheduled, ready", self.errors)

    def test_keys_sort_and_end(self):
        terminal = self.start_top("--sort", "queue")
        terminal.wait_for(b"mail")
        terminal.wait_for(b"sms")
        terminal.press(b"n")
        terminal.wait_for(b"OLDEST")
        terminal.wait_for(b"sms")
        terminal.wait_for(b"mail")
        terminal.press(b"q")
        self.check_given_back(terminal)

    def test_what_changes_is_shown_anew(self):
        terminal = self.start_top("--every", "100ms")
        terminal.wait_for(b"3 ready")
        self.client.enqueue("mail")
        terminal.wait_for(b"4 ready")

    def test_a_smaller_terminal_has_a_smaller_page(self):
        terminal = self.start_top("--every", "1h", "--sort", "queue")
        terminal.wait_for(b"sms")
        terminal.wait_for(b"q quit")
        terminal.resize(rows=6)
        terminal.wait_for(b"mail")
        terminal.wait_for(b"q quit")
        self.assertNotIn(b"sms", terminal.seen)
        terminal.press(b"\x1b[B")
        terminal.wait_for(b"sms")

    def test_the_terminal_is_given_back_on_signals(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            terminal = self.start_top()
            terminal.wait_for(b"3 ready")
            terminal.process.send_signal(number)
            self.check_given_back(terminal)

    def test_keys_are_heard_while_the_broker_does_not_answer(self):
        terminal = self.start_top("--every", "100ms")
        terminal.wait_for(b"3 ready")
        self.broker.freeze()
        self.addCleanup(self.broker.thaw)
        terminal.press(b"q")
        self.check_given_back(terminal)


if __name__ == "__main__":
    unittest.main()
