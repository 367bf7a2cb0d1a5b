"""Import this first: it finds the modules of tests/system."""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "system")]

from support.stubs import ROOT  # noqa: E402,F401  pylint: disable=wrong-import-position

DOCUMENT = "docs/PROCEDURES.md"
