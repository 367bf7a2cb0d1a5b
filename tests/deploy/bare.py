"""A bare Debian 12 in a folder, without systemd: where packages are installed and run. What runs in
it has a network of its own, and ends with the test, however that ends."""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(ROOT, "tests", "system")]
# pylint: disable=wrong-import-position
from support.process import GENEROUS_S, Process  # noqa: E402

MIRROR = "http://deb.debian.org/debian"
# With its own process 1, which takes all others with it, and its own mounts.
ALONE = ["unshare", "--mount", "--pid", "--net", "--fork", "--kill-child"]
# What dpkg starts nothing for: there is no systemd.
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def why_not():
    """Why it is not made here; empty if it is."""
    if not os.environ.get("SKIPLANE_TEST_PACKAGES"):
        return "it takes ten minutes: SKIPLANE_TEST_PACKAGES=1 tests/run -R package_test"
    if os.geteuid() != 0:
        return "only root may make a Debian in a folder"
    missing = [name for name in ("debootstrap", "lintian", "help2man", "patchelf", "ip")
               if not shutil.which(name)]
    return f"missing: {missing}: deploy/install-packages package root" if missing else ""


class BareDebian:
    def __init__(self, cache):
        """`cache`: a folder that keeps packages for the next time."""
        self._folder = tempfile.TemporaryDirectory(prefix="skiplane-root-")
        self.path = os.path.join(self._folder.name, "root")
        os.makedirs(cache, exist_ok=True)
        subprocess.run(["debootstrap", "--variant=minbase", f"--cache-dir={cache}", "bookworm",
                        self.path, MIRROR], check=True, capture_output=True)
        self._init = Process([*ALONE, "sh", "-c",
                              f"mount -t proc proc {self.path}/proc && ip link set lo up &&"
                              " echo up && exec tail -f /dev/null"])
        self._init.wait_for_output("up\n")
        children = f"/proc/{self._init.pid}/task/{self._init.pid}/children"
        with open(children, encoding="ascii") as file:
            self._inside = ["nsenter", f"--target={file.read().split()[0]}", "--mount", "--pid",
                            "--net", "chroot", self.path]

    def remove(self):
        self._init.end()
        self._folder.cleanup()

    def file(self, path):
        return self.path + path

    def command(self, line, user="root", **variables):
        """What runs it, a line of shell words, in there."""
        account = ["setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups"]
        return [*self._inside, "env", "-i", f"PATH={PATH}", "LC_ALL=C.UTF-8",
                "DEBIAN_FRONTEND=noninteractive", *map("=".join, variables.items()), *account,
                *shlex.split(line)]

    def start(self, line, user="root", **variables):
        return Process(self.command(line, user, **variables))

    def run(self, line, user="root", code=0):
        """What it writes, to both."""
        done = subprocess.run(self.command(line, user), check=False, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=GENEROUS_S)
        if done.returncode != code:
            raise AssertionError(f"{line} ended with {done.returncode}:\n{done.stdout}")
        return done.stdout

    def apt_get(self, line):
        """With the network of this machine, since the mirror is there."""
        subprocess.run(["chroot", self.path, "env", f"PATH={PATH}", "LC_ALL=C.UTF-8",
                        "DEBIAN_FRONTEND=noninteractive", "apt-get", "-q", "-y",
                        "--no-install-recommends", *shlex.split(line)],
                       check=True, capture_output=True)


def lines_of_unit(text, key):
    """The values of a key of a systemd unit, in order."""
    return re.findall(rf"(?m)^{key}=(.*)$", text)
