"""The memory of a process over time."""

import os
import threading
import time

EVERY_S = 0.025
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


class Memory:
    """Looks every 25 ms, on a thread of its own, until end()."""

    def __init__(self, pid):
        self._file = open(f"/proc/{pid}/statm", encoding="ascii")  # pylint: disable=R1732
        self._samples = []
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def now(self):
        """0 if the process has ended."""
        self._file.seek(0)
        fields = self._file.read().split()
        return int(fields[1]) * PAGE_BYTES if fields else 0

    def most(self, begin, end):
        return max((size for at, size in self._samples if begin <= at <= end), default=0)

    def end(self):
        self._ended.set()
        self._thread.join()
        self._file.close()

    def _run(self):
        while not self._ended.wait(EVERY_S):
            self._samples.append((time.monotonic(), self.now()))
