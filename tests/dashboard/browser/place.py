"""Where things are, and the way to the modules of the tests from outside. Needs no browser."""

import importlib.util
import os
import shutil
import sys

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ROOT = os.path.dirname(os.path.dirname(HERE))
SOURCE = os.path.join(ROOT, "client", "dashboard")
sys.path[:0] = [os.path.join(ROOT, "tests", "system"), os.path.join(ROOT, "tests", "support")]
DRIVER = shutil.which("chromedriver")
CHROMIUM = shutil.which("chromium")
WIDE, NARROW = (1280, 900), (360, 780)  # of what the browser shows


def is_there():
    """What a browser needs: deploy/install-packages browser."""
    return bool(DRIVER and CHROMIUM and importlib.util.find_spec("selenium"))
