import unittest

from planted import Planted
from rules import units


def folder(count):
    return {f"server/base/unit{number}.{end}": "" for number in range(count)
            for end in ("h", "cc")}


class Units(Planted):
    rule = units

    def test_a_folder_of_too_many_units_is_caught(self):
        self.assertIn("server/base:1: 21 units, at most 20: split the folder",
                      self.found(folder(21)))

    def test_a_header_and_its_source_are_one_unit(self):
        self.assertEqual(self.found(folder(20)), [])

    def test_a_folder_below_counts_for_itself(self):
        self.assertEqual(self.found({**folder(20), "server/base/below/a.cc": ""}), [])

    def test_only_units_of_c_plus_plus_are_counted(self):
        self.assertEqual(self.found({**folder(20), "server/base/a.sql": "",
                                     "server/base/a_test.py": ""}), [])


if __name__ == "__main__":
    unittest.main()
