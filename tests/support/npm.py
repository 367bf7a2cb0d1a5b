"""What a test takes from npm: packages as they are locked."""

import os
import shutil
import subprocess

INSTALL_S = 300


def is_there():
    return bool(shutil.which("npm") and shutil.which("node"))


def install(locked, folder):
    """Installs into a folder what another one locks; why it cannot be, or an empty text."""
    os.makedirs(folder, exist_ok=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(os.path.join(locked, name), folder)
    command = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    try:
        result = subprocess.run(command, cwd=folder, text=True, capture_output=True, check=False,
                                timeout=INSTALL_S)
    except subprocess.TimeoutExpired:
        return f"no answer in {INSTALL_S} s"
    return "" if result.returncode == 0 else result.stderr.strip()
