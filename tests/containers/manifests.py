"""Compose files and charts as JSON, by the program in go/, which reads them as Docker Compose, Helm
and Kubernetes do. Skipped where Go is absent, or may fetch nothing."""

import fcntl
import json
import os
import shutil
import subprocess
import tempfile
import unittest

import place

SOURCE = os.path.join(place.HERE, "go")
# With the modules and the compiled packages of the other tests that use Go.
FOLDER = os.path.join(os.environ["SKIPLANE_BUILD_DIR"], "languages", "go")
PROGRAM = os.path.join(FOLDER, "manifests")
# Its compiler is quicker when it does not optimise, and nothing here needs C.
GO = {"GOPATH": FOLDER, "GOCACHE": f"{FOLDER}/cache", "GOTOOLCHAIN": "local", "GOENV": "off",
      "GOWORK": "off", "CGO_ENABLED": "0",
      "GOFLAGS": "-modcacherw -buildvcs=false '-gcflags=all=-N -l'"}


class Refused(Exception):
    """What is wrong, as the program says it."""


def build():
    """Once for all tests: the others find it done."""
    if not shutil.which("go"):
        raise unittest.SkipTest("go is not installed")
    os.makedirs(FOLDER, exist_ok=True)
    with open(f"{PROGRAM}.lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        fetched = run_go("mod", "download")
        if fetched.returncode != 0:
            raise unittest.SkipTest(f"go cannot fetch: {fetched.stderr[-500:]}")
        built = run_go("build", "-ldflags=-s -w", "-o", PROGRAM, ".")
        if built.returncode != 0:
            raise AssertionError(built.stderr)


def run_go(*arguments):
    return subprocess.run(["go", *arguments], cwd=SOURCE, env={**os.environ, **GO}, check=False,
                          capture_output=True, text=True)


def run(*arguments):
    done = subprocess.run([PROGRAM, *arguments], check=False, capture_output=True, text=True)
    if done.returncode != 0:
        raise Refused(done.stderr)
    return json.loads(done.stdout)


def compose():
    return run("compose", os.path.join(place.CONTAINER, "compose.yaml"))


def yaml(*path):
    """Any YAML file of the repository."""
    return run("yaml", os.path.join(place.ROOT, *path))


class Chart:
    """What a chart makes of some values: dictionaries, of which a later one goes before. The
    release is `queue` in the namespace `work`."""

    def __init__(self, *values, folder=place.CHART):
        with tempfile.TemporaryDirectory() as files:
            paths = []
            for number, given in enumerate(values):
                paths.append(os.path.join(files, f"{number}.yaml"))
                with open(paths[-1], "w", encoding="utf-8") as file:
                    json.dump(given, file)  # which is YAML, too
            found = run("chart", folder, *paths)
        self.version, self.app_version = found["version"], found["appVersion"]
        self.objects, self.notes = found["objects"], found["notes"]

    def all(self, kind):
        return [one for one in self.objects if one["kind"] == kind]

    def one(self, kind):
        [found] = self.all(kind)
        return found

    def pods(self):
        """Of the brokers and of the job that migrates."""
        return [one["spec"]["template"] for kind in ("Deployment", "Job") for one in self.all(kind)]
