"""The files that the rules look at: a dictionary from path (below the root) to text.

Rules take such a dictionary and return findings as "path:line: message", so that a self-test can
plant a violation without touching the disk.
"""

import os

IGNORED_FOLDERS = {".git", ".cache", "__pycache__", "node_modules"}


def read_tree(root):
    files = {}
    for folder, folders, names in os.walk(root):
        place = os.path.relpath(folder, root)
        folders[:] = [
            name
            for name in folders
            if name not in IGNORED_FOLDERS and not (place == "." and name.startswith("build"))
        ]
        for name in sorted(set(names) - IGNORED_FOLDERS):  # a worktree's .git is a file
            path = os.path.normpath(os.path.join(place, name))
            try:
                with open(os.path.join(root, path), encoding="utf-8") as file:
                    files[path] = file.read()
            except UnicodeDecodeError:
                files[path] = ""  # a picture: documents lead to it, and it has no words
            except FileNotFoundError:
                continue
    return files


def ours(path):
    """Whether we wrote the file: what came with a licence of its own, or was made by a tool, is not
    held to our rules."""
    made_or_theirs = ("proto/google/", "client/dashboard/dist/")
    return not path.startswith(made_or_theirs) and os.path.basename(path) not in (
        "LICENSE", "package-lock.json")


def finding(path, line, message):
    return f"{path}:{line}: {message}"


def line_of(text, position):
    return text.count("\n", 0, position) + 1
