"""What a test starts, and that crashes, fails the test."""

import signal
import unittest

from support.process import GENEROUS_S, Process

CRASHED = "ended by SIGSEGV:\nlast words"


class Crashes(unittest.TestCase):
    def crashed(self):
        process = Process(["sh", "-c", "echo last words; kill -SEGV $$"])
        self.assertFalse(process.runs_for(GENEROUS_S))
        return process

    def test_who_waits_for_it_is_told(self):
        process = self.crashed()
        with self.assertRaisesRegex(AssertionError, CRASHED):
            process.wait()
        with self.assertRaisesRegex(AssertionError, CRASHED):
            process.end()

    def test_who_would_only_end_it_is_told(self):
        with self.assertRaisesRegex(AssertionError, CRASHED):
            self.crashed().end()

    def test_one_that_a_test_ends_so_has_not_crashed(self):
        process = Process(["sleep", "60"])
        process.signal(signal.SIGSEGV)
        self.assertEqual(process.wait(), -signal.SIGSEGV)
        process.end()


if __name__ == "__main__":
    unittest.main()
