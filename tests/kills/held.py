"""What a worker of either kind holds, and what it notes of it."""

import random
import threading
import time

from journal import Journal, Where
from support import stream
from support.client import seconds

CREDIT = 4
MUCH_CREDIT = 40
AT_ONCE = 0.6  # of the tasks are settled when they come
KINDS = ["ack"] * 8 + ["retry", "release"]


class Held:
    """A task that was leased, until its settlement is answered. `kind`: none until it is sent."""

    def __init__(self, task):
        self.task_id, self.attempt, self.lease_token = task.task_id, task.attempt, task.lease_token
        self.kind = None

    def draw(self, chance):
        self.kind = chance.choice(KINDS)

    @property
    def name(self):
        return self.task_id, self.attempt

    def item(self):
        if self.kind == "ack":
            return stream.ack_of(self)
        if self.kind == "release":
            return stream.release_of(self)
        return stream.nack_of(self, retry_delay=seconds(0))


class Holder:
    def __init__(self, folder, name, settings):
        self._name, self._settings = name, settings
        self._random = random.Random(f"{settings['seed']} {name}")
        self._worker_id = f"{self._random.getrandbits(128):032x}"
        self._credit = CREDIT
        if settings["packing"]:
            self._credit = self._random.choice((CREDIT, MUCH_CREDIT))
        self._journal, self._where = Journal(folder, name), Where(folder)
        self._lock = threading.Lock()
        self._held = {}  # by token
        self._pause = threading.Event()  # which never comes
        self._alive_at = time.monotonic()

    def _take(self, tasks):
        """Those that came."""
        taken = []
        for task in tasks:
            self._journal.note("got", task.task_id, task.attempt, task.payload.decode())
            self._held[task.lease_token] = Held(task)
            taken.append(self._held[task.lease_token])
        return taken

    def _is_alive(self):
        """The broker answered a sign of life. Once that took too long others may have our tasks."""
        now = time.monotonic()
        if now - self._alive_at > 0.8 * self._settings["lease_s"]:
            self._journal.note("silent", now - self._alive_at)
        self._alive_at = now

    def _look_at(self, held, states, where):
        for each, state in zip(held, states):
            # One that is on its way out may be told as lost.
            if state != "HELD" and each.kind is None and each.lease_token in self._held:
                self._journal.note("lost", *each.name, where)
                del self._held[each.lease_token]
