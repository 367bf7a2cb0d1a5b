"""What the disk is used for, by the commands of docs/PROCEDURES.md, and the command that measured
the figures there."""

import os
import re
import subprocess
import sys
import unittest

import place
from procedure import Procedure, headings
from support import cluster, document, template
from support.case import slow
from support.database import Database
from support.process import GENEROUS_S


@slow
class Disk(Procedure):
    HEADINGS = ("Size the disk",)

    def test_what_is_used_is_shown_by_table(self):
        shared = cluster.shared()
        database = Database(shared, template.made_in(shared))
        self.addCleanup(database.drop)
        machine = self.make_broker_machine(database)
        machine.services["skiplaned"].start()
        self.environment.update(DATABASE=database.uri,
                                SKIPLANE_BROKER=machine.services["skiplaned"].address)
        said = self.give(0)
        self.assertIn("history_DAY", said)
        self.assertRegex(said, r"wal *\n-+\n +\d+ [kMG]B")


@slow
class Figures(unittest.TestCase):
    def test_they_are_measured_for_each_kind_of_task(self):
        said = subprocess.run(
            [sys.executable, "-B", os.path.join(place.HERE, "disk_figures.py"), "--tasks", "3840"],
            check=True, capture_output=True, text=True, timeout=GENEROUS_S).stdout
        found = re.findall(r"(packs|rows), (\w+): (\d+) bytes a task .* (\d+) of WAL", said)
        self.assertEqual([(kind, state) for kind, state, *_ in found],
                         [(kind, state) for kind in ("packs", "rows")
                          for state in ("waiting", "finished", "failed")], said)
        for kind, state, size, wal in found:
            if state != "finished":  # pages of a few tasks are not filled
                self.assertGreater(int(size), 200, (kind, said))
            self.assertGreater(int(wal), 0, said)


class Coverage(unittest.TestCase):
    """No command of the document is without a test."""

    def test_each_section_is_given_by_a_class(self):
        named = set()
        for file in os.listdir(place.HERE):
            if file.endswith("_test.py"):
                with open(os.path.join(place.HERE, file), encoding="utf-8") as text:
                    for headings_ in re.findall(r"(?s)HEADINGS = \((.*?)\)\n", text.read()):
                        named |= set(re.findall(r'"(.+?)"', headings_))
        self.assertEqual(set(headings()), named | {"Before you begin"})

    def test_each_variable_is_explained(self):
        [commands] = document.section(place.DOCUMENT, "Before you begin")
        subprocess.run(["bash", "-euo", "pipefail", "-c", commands], check=True)
        used = {name for heading in headings()
                for block in document.section(place.DOCUMENT, heading)
                for name in re.findall(r"\$([A-Z_]+)", block)}
        self.assertEqual(used - set(re.findall(r"([A-Z_]+)=", commands)), set())


if __name__ == "__main__":
    unittest.main()
