"""What the dashboard takes from npm, as its lock file names it: installed in a build folder."""

import fcntl
import filecmp
import os

from browser.place import SOURCE

import npm

LOCK = "package-lock.json"


def modules():
    """The folder node_modules and an empty text, or nothing and why there is none."""
    if not npm.is_there():
        return None, "npm is not installed"
    folder = os.path.join(os.path.abspath(os.environ["SKIPLANE_BUILD_DIR"]), "dashboard")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "install.lock"), "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # tests of other processes want it, too
        if not is_there(folder):
            why_not = npm.install(SOURCE, folder)
            if why_not:
                return None, f"npm cannot install what the dashboard takes from it: {why_not}"
    return os.path.join(folder, "node_modules"), ""


def is_there(folder):
    """Whether all of it was installed: npm writes its own list last."""
    if not os.path.exists(os.path.join(folder, "node_modules", ".package-lock.json")):
        return False
    return filecmp.cmp(os.path.join(SOURCE, LOCK), os.path.join(folder, LOCK), shallow=False)
