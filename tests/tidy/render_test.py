"""The pictures of the documents can be drawn. Needs npm and a registry; skipped without."""

import json
import os
import subprocess
import sys
import unittest

from rules import mermaid
from rules.tree import read_tree

FOLDER = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(FOLDER, "..", "support"))

import npm  # noqa: E402

RENDER = os.path.join(FOLDER, "render")
BUILD = os.environ.get("SKIPLANE_BUILD_DIR", os.path.join(FOLDER, "..", "..", "build"))


def draw(folder, pictures):
    return subprocess.run(["node", os.path.join(RENDER, "render.mjs"), folder], text=True,
                          input=json.dumps(pictures), capture_output=True, check=False,
                          timeout=npm.INSTALL_S)


@unittest.skipUnless(npm.is_there(), "npm is not installed")
class Render(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = os.path.join(os.path.abspath(BUILD), "pictures")
        why_not = npm.install(RENDER, cls.folder)
        if why_not:
            raise unittest.SkipTest(f"npm cannot install the renderer: {why_not}")

    def test_each_picture_can_be_drawn(self):
        files = read_tree(os.path.join(FOLDER, "..", ".."))
        pictures = [code for path, text in files.items() if path.endswith(".md")
                    for _, _, code in mermaid.pictures(text)]
        self.assertGreater(len(pictures), 3)
        result = draw(self.folder, pictures)
        self.assertEqual((result.returncode, result.stdout), (0, ""), result.stderr)

    def test_a_picture_that_cannot_be_drawn_is_named(self):
        result = draw(self.folder, ["flowchart TD\n  a --> b", "flowchart TD\n  a ==> ==> b"])
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertTrue(result.stdout.startswith("picture 1: "), result.stdout)


if __name__ == "__main__":
    unittest.main()
