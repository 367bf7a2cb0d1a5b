"""The API's code in one language, as the README's commands make it."""

import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

FOLDER = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(FOLDER))
sys.path.append(os.path.join(ROOT, "tests", "system"))

from support import document, stubs  # noqa: E402

BUILD = os.path.abspath(os.environ.get("SKIPLANE_BUILD_DIR", os.path.join(ROOT, "build")))
GO_MODULE = os.path.join("client", "go")
BOUND_S = 500


def commands():
    """What the README tells to do for each language, each with the comment that begins it."""
    setup, *parts = re.split(r"(?m)^# ", document.commands("README.md", "Other languages") +
                             document.commands("README.md", "Go"))
    return {part.split(":", 1)[0]: (setup, part.split("\n", 1)[0], part.split("\n", 1)[1])
            for part in parts}


class Generated:
    """A copy of the repository, as far as it is needed, in which code was generated."""

    def __init__(self, language, env=None):
        self._place = tempfile.TemporaryDirectory(prefix="skiplane-generated-")
        self.folder = self._place.name
        self.env = {**os.environ, **(env or {})}
        os.symlink(stubs.PROTO, self.path("proto"))
        os.makedirs(self.path(GO_MODULE))
        os.symlink(os.path.join(ROOT, "client", "examples"), self.path("client", "examples"))
        for name in ("go.mod", "go.sum"):
            shutil.copy(os.path.join(ROOT, GO_MODULE, name), self.path(GO_MODULE))
        self._setup, self.promise, self._command = commands()[language]

    def make(self):
        self.run("bash", "-euc", self._setup + self._command)

    def remove(self):
        self._place.cleanup()

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    def read(self, *parts):
        # Generated PHP has the descriptors as bytes.
        with open(self.path(*parts), encoding="utf-8", errors="replace") as file:
            return file.read()

    def files(self, pattern):
        return sorted(glob.glob(self.path(pattern), recursive=True))

    def add(self, program, *parts):
        """Lays one of our programs beside the code."""
        os.makedirs(os.path.dirname(self.path(*parts)), exist_ok=True)
        return shutil.copy(os.path.join(FOLDER, "programs", program), self.path(*parts))

    def attempt(self, *command, folder=""):
        return subprocess.run(command, cwd=self.path(folder), env=self.env, check=False,
                              capture_output=True, timeout=BOUND_S)

    def run(self, *command, folder=""):
        """What a command writes; it has to succeed."""
        result = self.attempt(*command, folder=folder)
        if result.returncode != 0:
            said = (result.stdout + result.stderr).decode(errors="replace")
            raise AssertionError(f"{' '.join(command)[:200]}: {said}")
        return result.stdout
