"""What a process that may be killed at any moment did and saw: a line per event, in the kernel's
hands before the process goes on, so that a SIGKILL takes none away."""

import json
import os

WORKER, PRODUCER = "worker", "producer"


def path_of(folder, name):
    return os.path.join(folder, f"{name}.journal")


class Journal:
    def __init__(self, folder, name):
        self._file = os.open(path_of(folder, name), os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def note(self, *event):
        os.write(self._file, json.dumps(event).encode() + b"\n")


def read(folder, name):
    """All events of a process, oldest first; none if it was killed before it could note one."""
    if not os.path.exists(path_of(folder, name)):
        return []
    with open(path_of(folder, name), encoding="utf-8") as file:
        return [json.loads(line) for line in file]


class Where:
    """The brokers of the moment, as a file says it: which start each is of, and its address."""

    def __init__(self, folder):
        self._path = os.path.join(folder, "brokers")
        self._over = os.path.join(folder, "over")

    def publish(self, addresses):
        """By their starts."""
        with open(self._path + ".new", "w", encoding="utf-8") as file:
            json.dump(list(addresses.items()), file)
        os.rename(self._path + ".new", self._path)

    def choose(self, chance):
        """One of them: its start and its address."""
        with open(self._path, encoding="utf-8") as file:
            return chance.choice(json.load(file))

    def end(self):
        """Tells producers to stop."""
        with open(self._over, "w", encoding="utf-8"):
            pass

    def is_over(self):
        return os.path.exists(self._over)
