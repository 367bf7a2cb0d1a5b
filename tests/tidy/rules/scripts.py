"""Shell scripts are clean for shellcheck. No findings where shellcheck is not installed."""

import shutil
import subprocess

from rules.tree import finding, ours


def is_script(path, text):
    first = text.split("\n", 1)[0]
    return ours(path) and first.startswith("#!") and first.rstrip().endswith(("bash", "/sh"))


def available():
    return shutil.which("shellcheck") is not None


def check(files):
    problems = []
    for path, text in files.items():
        if available() and is_script(path, text):
            result = subprocess.run(["shellcheck", "-f", "gcc", "-"], input=text, text=True,
                                    capture_output=True, check=False)
            problems += [
                finding(path, line.split(":")[1], ":".join(line.split(":")[3:]).strip())
                for line in result.stdout.splitlines()
            ]
    return problems
