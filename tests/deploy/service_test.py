"""The units of deploy/systemd are such that systemd takes them, and leave programs few rights."""

import os
import shutil
import subprocess
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# Of 100, where a unit without any sandbox has 96. What is left is mostly the network.
EXPOSURE_MAX = 15


@unittest.skipUnless(shutil.which("systemd-analyze"), "systemd is not installed")
class Service(unittest.TestCase):
    name = "skiplaned.service"
    program = "/usr/bin/skiplaned"

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.unit = os.path.join(folder.name, self.name)
        with open(os.path.join(ROOT, "deploy", "systemd", self.name), encoding="utf-8") as file:
            text = file.read()
        self.assertIn(f"ExecStart={self.program} ", text)
        # systemd looks for the program: this one is on every machine.
        self.write(text.replace(self.program, "/bin/true"))

    def write(self, text):
        self.text = text
        with open(self.unit, "w", encoding="utf-8") as file:
            file.write(text)

    def analyze(self, *arguments):
        """Its exit code, and what it writes."""
        done = subprocess.run(["systemd-analyze", "--no-pager", *arguments, self.unit],
                              check=False, capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    def complaints(self):
        _, text = self.analyze("verify", "--man=no")
        return [line for line in text.splitlines() if self.name in line]

    def rating(self):
        code, text = self.analyze("security", "--offline=true", f"--threshold={EXPOSURE_MAX}")
        self.assertIn("Overall exposure level", text)
        return code, text

    def test_systemd_takes_every_line(self):
        self.assertEqual(self.complaints(), [])

    def test_a_line_that_systemd_does_not_take_is_found(self):
        self.write(self.text.replace("PrivateTmp=yes", "PrivateTemp=yes"))
        self.assertEqual(len(self.complaints()), 1)

    def test_it_leaves_few_rights(self):
        code, text = self.rating()
        self.assertEqual(code, 0, text)

    def test_rights_that_are_left_are_found(self):
        self.write(self.text.replace("SystemCallFilter", "#").replace("ProtectSystem", "#"))
        self.assertNotEqual(self.rating()[0], 0)


class WorkerService(Service):
    name = "skiplane-worker@.service"
    program = "/usr/bin/skiplane"


if __name__ == "__main__":
    unittest.main()
