"""How a rule is tested: plant a violation, and its twin that is right."""

import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Planted(unittest.TestCase):
    rule = None

    def found(self, files):
        return self.rule.check(files)

    def assert_caught(self, path, text, message):
        problems = self.found({path: text})
        self.assertTrue(any(message in problem for problem in problems), problems or "not caught")

    def assert_clean(self, path, text):
        self.assertEqual(self.found({path: text}), [])
