"""The law of this code base, applied to all of it. Each rule has its own test in selftest/."""

import os
import sys
import unittest

FOLDER = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, FOLDER)

from rules import (alerts, documents, events, glossary, includes, limits,  # noqa: E402
                   migrations, paths, pictures, reasons, registration, scripts, sizes, sql,
                   together, units, visible, words)
from rules.tree import read_tree  # noqa: E402


class Tidy(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.files = read_tree(os.path.dirname(os.path.dirname(FOLDER)))

    def assert_clean(self, rule):
        problems = rule.check(self.files)
        self.assertFalse(problems, "\n" + "\n".join(problems))

    def test_the_tree_was_found(self):
        self.assertIn("server/base/reason.h", self.files)

    def test_rooms_import_one_way(self):
        self.assert_clean(includes)

    def test_units_are_small(self):
        self.assert_clean(sizes)

    def test_folders_are_small(self):
        self.assert_clean(units)

    def test_banned_words_do_not_occur(self):
        self.assert_clean(words)

    def test_retired_words_do_not_come_back(self):
        self.assert_clean(glossary)

    def test_headers_and_documents_say_what_they_are(self):
        self.assert_clean(documents)

    def test_documents_name_paths_that_exist(self):
        self.assert_clean(paths)

    def test_pictures_show_what_the_code_has(self):
        self.assert_clean(pictures)

    def test_statements_are_fit_for_many_nodes(self):
        self.assert_clean(sql)

    def test_events_of_the_log_are_explained(self):
        self.assert_clean(events)

    def test_the_table_of_limits_has_those_of_the_code(self):
        self.assert_clean(limits)

    def test_alerts_are_of_metrics_that_exist(self):
        self.assert_clean(alerts)

    def test_released_migrations_are_as_they_were(self):
        self.assert_clean(migrations)

    def test_a_reason_has_one_code(self):
        self.assert_clean(reasons)

    def test_no_test_is_lost(self):
        self.assert_clean(registration)

    def test_what_is_compiled_together_has_names_of_its_own(self):
        self.assert_clean(together)

    def test_what_is_shipped_includes_what_it_names(self):
        self.assert_clean(visible)

    @unittest.skipUnless(scripts.available(), "shellcheck is not installed")
    def test_scripts_are_clean(self):
        self.assert_clean(scripts)


if __name__ == "__main__":
    unittest.main()
