"""The program buf, which holds the API to its rules. It comes from npm, in a pinned version."""

import fcntl
import os
import shutil
import subprocess

VERSION = "1.75.0"
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROTO = os.path.join(ROOT, "proto")
RELEASED = os.path.join(ROOT, "tests", "proto", "released.binpb")


class Unavailable(Exception):
    pass


def install():
    """Returns the path of buf, installing it below the build folder at the first use."""
    if not shutil.which("node") or not shutil.which("npm"):
        raise Unavailable("node and npm are not installed")
    folder = os.path.join(os.environ.get("SKIPLANE_BUILD_DIR", os.path.join(ROOT, "build")), "buf")
    program = os.path.join(folder, VERSION, "node_modules", ".bin", "buf")
    os.makedirs(folder, exist_ok=True)
    # Several tests may come here at once.
    with open(os.path.join(folder, "lock"), "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.exists(program):
            result = subprocess.run(
                ["npm", "install", "--prefix", os.path.join(folder, VERSION), "--no-audit",
                 "--no-fund", "--loglevel=error", f"@bufbuild/buf@{VERSION}"],
                capture_output=True, text=True, check=False)
            if result.returncode != 0:
                raise Unavailable(f"npm could not install buf: {result.stderr.strip()}")
    return program


def run(program, *arguments):
    """Returns (exit code, output)."""
    result = subprocess.run([program, *arguments], stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True, check=False)
    return result.returncode, result.stdout
