"""What is committed of the dashboard is what its sources make, and is small enough."""

import gzip
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest

from browser import node
from browser.place import ROOT, SOURCE

DIST = os.path.join(SOURCE, "dist")
FILES = {"index.html", "dashboard.js", "dashboard.css"}
GZIPPED_MAX = 250_000
ROW = re.compile(r"^\| ([a-z-]+) ([\d.]+) \| ([^|]+) \|", re.MULTILINE)


def contents(folder):
    found = {}
    for name in os.listdir(folder):
        with open(os.path.join(folder, name), "rb") as file:
            found[name] = file.read()
    return found


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


class Built(unittest.TestCase):
    def test_it_has_these_files_and_is_small(self):
        files = contents(DIST)
        self.assertEqual(files.keys(), FILES)
        size = sum(len(gzip.compress(file)) for file in files.values())
        self.assertLessEqual(size, GZIPPED_MAX)

    def test_nothing_is_fetched_from_elsewhere_or_written_into_the_page(self):
        page = read(DIST, "index.html")
        self.assertEqual(re.findall(r"<script(?![^>]*\bsrc=\"/dashboard/)", page), [])
        self.assertNotIn("<style", page)
        self.assertNotRegex(page, r"\sstyle=|\son\w+=|https?://")
        self.assertNotRegex(read(DIST, "dashboard.css"), r"@import|url\(")

    def test_the_sources_make_the_same(self):
        modules, why_not = node.modules()
        if why_not:
            self.skipTest(why_not)
        with tempfile.TemporaryDirectory() as folder:
            copy = os.path.join(folder, "dashboard")
            shutil.copytree(SOURCE, copy, ignore=shutil.ignore_patterns("node_modules", "dist"))
            os.symlink(modules, os.path.join(copy, "node_modules"))
            subprocess.run(["node", "build.mjs", os.path.join(folder, "dist")], cwd=copy,
                           check=True)
            self.assertEqual(contents(os.path.join(folder, "dist")), contents(DIST))
            checked = subprocess.run(["node_modules/.bin/tsc", "--noEmit"], cwd=copy, text=True,
                                     capture_output=True, check=False)
            self.assertEqual((checked.returncode, checked.stdout), (0, ""))

    def test_each_library_is_pinned_and_its_licence_is_told(self):
        package = json.loads(read(SOURCE, "package.json"))
        locked = json.loads(read(SOURCE, "package-lock.json"))["packages"]
        wanted = {**package["dependencies"], **package["devDependencies"]}
        told = {name: (version, licence.strip()) for name, version, licence in
                ROW.findall(read(ROOT, "docs", "LICENSES.md"))}
        self.assertEqual(told, {
            name: (version, locked[f"node_modules/{name}"]["license"])
            for name, version in wanted.items()})
        for name, version in wanted.items():
            self.assertEqual(locked[f"node_modules/{name}"]["version"], version)


if __name__ == "__main__":
    unittest.main()
