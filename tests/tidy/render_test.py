"""The pictures of the documents can be drawn. Needs npm and a registry; skipped without."""

import json
import os
import shutil
import subprocess
import unittest

from rules import mermaid
from rules.tree import read_tree

FOLDER = os.path.dirname(os.path.abspath(__file__))
RENDER = os.path.join(FOLDER, "render")
BUILD = os.environ.get("SKIPLANE_BUILD_DIR", os.path.join(FOLDER, "..", "..", "build"))
INSTALL_S = 300


def install(folder):
    """Installs the renderer as it is locked; why it cannot be, or an empty text."""
    os.makedirs(folder, exist_ok=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(os.path.join(RENDER, name), folder)
    command = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    try:
        result = subprocess.run(command, cwd=folder, text=True, capture_output=True, check=False,
                                timeout=INSTALL_S)
    except subprocess.TimeoutExpired:
        return f"no answer in {INSTALL_S} s"
    return "" if result.returncode == 0 else result.stderr.strip()


def draw(folder, pictures):
    return subprocess.run(["node", os.path.join(RENDER, "render.mjs"), folder], text=True,
                          input=json.dumps(pictures), capture_output=True, check=False,
                          timeout=INSTALL_S)


@unittest.skipUnless(shutil.which("npm") and shutil.which("node"), "npm is not installed")
class Render(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = os.path.join(os.path.abspath(BUILD), "pictures")
        why_not = install(cls.folder)
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
