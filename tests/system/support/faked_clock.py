"""A PostgreSQL whose clock a test sets."""

import glob
import os
import tempfile

from support.cluster import Cluster, give_away

LIBRARY = glob.glob("/usr/lib/*/faketime/libfaketime.so.1")
WHY_NOT = "the Debian package faketime is not installed"


class FakedClock:
    """`cluster` has it until the case ends."""

    def __init__(self, case):
        folder = tempfile.TemporaryDirectory(prefix="skiplane-clock-")
        case.addCleanup(folder.cleanup)
        give_away(folder.name)
        os.chmod(folder.name, 0o755)
        self._file = os.path.join(folder.name, "offset")
        self.set(0)
        self.cluster = Cluster(env=[f"LD_PRELOAD={LIBRARY[0]}", "FAKETIME_NO_CACHE=1",
                                    f"FAKETIME_TIMESTAMP_FILE={self._file}",
                                    "FAKETIME_DONT_FAKE_MONOTONIC=1"])
        case.addCleanup(self._end)

    def set(self, offset_s):
        """From now on; against the machine's."""
        with open(self._file + ".new", "w", encoding="ascii") as file:
            file.write(f"{offset_s:+d}\n")
        os.chmod(self._file + ".new", 0o644)
        os.rename(self._file + ".new", self._file)

    def _end(self):
        self.cluster.end()
        for left in glob.glob(f"/dev/shm/*faketime_*_{self.cluster.pid}"):
            os.unlink(left)
