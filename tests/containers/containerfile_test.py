"""The Containerfile builds with what deploy/packages lists, from what the context has, for an
account without rights."""

import os
import re
import shutil
import subprocess
import tempfile
import unittest

import place
from support.case import slow

STAGE = re.compile(r"^\$\{(?:SLIM_)?DEBIAN\}(?: AS (\w+))?$")


def stages():
    """The instructions of each stage, by its name; the last has none."""
    found, current = {}, []
    for word, rest in place.instructions():
        if word == "FROM":
            current = found.setdefault(STAGE.match(rest).group(1) or "", [])
        current.append((word, rest))
    return found


def context():
    """What .dockerignore lets through: patterns that begin with ! after a `*`, and folders that are
    left out again."""
    lines = [line for line in place.read(".dockerignore").splitlines() if line[:1] not in ("#", "")]
    assert lines[0] == "*"
    return ([line[1:] for line in lines if line[0] == "!"],
            [line for line in lines[1:] if line[0] != "!"])


class Containerfile(unittest.TestCase):
    def value(self, word, stage=""):
        [rest] = [rest for name, rest in stages()[stage] if name == word]
        return rest

    def test_it_builds_with_the_packages_that_are_listed_and_no_others(self):
        commands = [rest for word, rest in stages()["build"] if word == "RUN"]
        self.assertEqual([command.split(" && ")[0] for command in commands],
                         ["deploy/install-packages build package", "deploy/package /packages"])
        self.assertFalse(any("apt-get" in command for command in commands))
        # deploy/package asks for the same groups: it then has nothing to install.
        self.assertIn('install-packages" build package\n', place.read("deploy", "package"))

    def test_it_runs_with_our_packages_and_what_they_depend_on(self):
        self.assertEqual(self.value("COPY"), "--from=build /packages/skiplaned_*.deb"
                                             " /packages/skiplane_*.deb /packages/")
        [installed] = re.findall(r"apt-get [^&]*install ([^&]*)", self.value("RUN"))
        self.assertEqual(installed.split(), ["/packages/*.deb"])
        self.assertIn("--no-install-recommends", self.value("RUN"))

    def test_it_runs_as_an_account_without_rights(self):
        user, group = self.value("USER").split(":")
        self.assertIn(f"groupadd --gid {group} skiplane ", self.value("RUN"))
        self.assertIn(f"useradd --uid {user} --gid skiplane ", self.value("RUN"))
        self.assertGreater(int(user), 0)

    def test_it_says_what_it_is(self):
        labels = dict(re.findall(r'org\.opencontainers\.image\.(\w+)="([^"]*)"',
                                 self.value("LABEL")))
        self.assertEqual(labels["version"], place.version())
        self.assertEqual(labels["licenses"], "Apache-2.0")
        self.assertEqual(labels["revision"], "${SKIPLANE_COMMIT}")
        self.assertIn(f"skiplane:{place.version()} .", place.read("deploy/container/Containerfile"))

    def test_it_is_ended_and_asked_by_what_the_programs_know(self):
        self.assertEqual(self.value("STOPSIGNAL"), "SIGTERM")
        self.assertEqual(self.value("ENTRYPOINT"), '["/usr/bin/skiplaned"]')
        self.assertRegex(self.value("HEALTHCHECK"), r'CMD \["/usr/bin/skiplane", "health"\]$')
        self.assertEqual(self.value("EXPOSE"), "7070 7080 9464")

    def test_all_that_the_context_names_is_there(self):
        taken, left = context()
        for name in taken:
            self.assertTrue(os.path.exists(os.path.join(place.ROOT, name)), name)
        for name in left:
            self.assertIn(name.split("/")[0], taken)

    @slow
    def test_the_context_has_all_that_is_compiled(self):
        with tempfile.TemporaryDirectory() as folder:
            taken, left = context()
            for name in taken:
                source, target = os.path.join(place.ROOT, name), os.path.join(folder, name)
                if os.path.isdir(source):
                    shutil.copytree(source, target)
                else:
                    shutil.copy(source, target)
            for name in left:
                shutil.rmtree(os.path.join(folder, name), ignore_errors=True)
            build = os.path.join(folder, "build")
            self.run_here("cmake", "-S", folder, "-B", build, "-G", "Ninja",
                          "-DSKIPLANE_BUILD_TESTS=OFF", "-DSKIPLANE_PACKAGE=ON",
                          "-DCMAKE_BUILD_TYPE=Release", "-DSKIPLANE_COMMIT=abc")
            # It looks for every file that it would read, and runs nothing.
            planned = self.run_here("ninja", "-C", build, "-n")
            self.assertIn("skiplaned", planned)

    def run_here(self, *command):
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout


if __name__ == "__main__":
    unittest.main()
