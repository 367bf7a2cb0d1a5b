"""Import this first: it finds the modules of tests/system."""

import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "system")]

from support.stubs import ROOT  # noqa: E402  pylint: disable=wrong-import-position

CHART = os.path.join(ROOT, "deploy", "helm", "skiplane")
CONTAINER = os.path.join(ROOT, "deploy", "container")


def read(*path):
    """The text of a file of the repository."""
    with open(os.path.join(ROOT, *path), encoding="utf-8") as file:
        return file.read()


def version():
    return re.search(r"project\(skiplane VERSION ([\d.]+)", read("CMakeLists.txt")).group(1)


def instructions():
    """Those of the Containerfile: pairs of a word and the rest, without comments."""
    text = re.sub(r"(?m)^\s*#.*\n", "", read("deploy", "container", "Containerfile"))
    return re.findall(r"(?m)^([A-Z]+) +(.*)$", re.sub(r"\\\n\s*", "", text))
