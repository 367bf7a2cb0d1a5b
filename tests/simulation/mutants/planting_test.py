"""The faults of mutants.py fit the scheduler as it is: the everyday loop plays none of them."""

import pathlib
import tempfile
import unittest

import mutants
import mutants_test


class Planting(unittest.TestCase):
    def test_each_can_be_planted(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in mutants.MUTANTS:
                with self.subTest(name):
                    mutants.plant(name, pathlib.Path(folder, name))

    def test_each_is_played(self):
        played = {name.removeprefix("test_") for name in dir(mutants_test.Mutants)
                  if name.startswith("test_")}
        self.assertEqual(mutants.MUTANTS.keys() - played, set())

    def test_a_text_that_is_gone_is_an_error(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "scheduler.cc").write_text("void Advance() {}\n", encoding="utf-8")
            with self.assertRaisesRegex(SystemExit, "deadline_without_alarm: scheduler.cc has 0"):
                mutants.plant("deadline_without_alarm", folder, folder)
