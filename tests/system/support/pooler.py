"""A pgbouncer in front of a cluster, on a unix socket in a folder of its own. It runs as PostgreSQL
does; installing its package leaves none running that would be used here."""

import os
import shutil
import signal
import tempfile

from support.cluster import give_away
from support.process import Process

PROGRAM = "/usr/sbin/pgbouncer"
PORT = 6432
SETTINGS = """
[databases]
* = host={target} user=skiplane
[pgbouncer]
listen_addr =
listen_port = {port}
unix_socket_dir = {folder}
auth_type = any
pool_mode = {mode}
{more}
"""


class Pooler:
    """`settings` are further lines of pgbouncer.ini."""

    def __init__(self, cluster, mode, settings=""):
        self._target = cluster.folder
        self._settings = settings
        self._folder = tempfile.mkdtemp(prefix="skiplane-pooler-", dir="/tmp")
        give_away(self._folder)
        self._file = os.path.join(self._folder, "pgbouncer.ini")
        self._write(mode)
        self._process = Process([PROGRAM, self._file], user="postgres")
        self._process.wait_for_output("process up")

    def uri(self, database):
        return f"postgresql://skiplane@/{database.name}?host={self._folder}&port={PORT}"

    def change_mode(self, mode):
        """For clients that are there, too."""
        self._write(mode)
        self._process.signal(signal.SIGHUP)

    def end(self):
        if self._process.runs():
            self._process.terminate()
        self._process.end()
        shutil.rmtree(self._folder)

    def _write(self, mode):
        with open(self._file, "w", encoding="utf-8") as file:
            file.write(SETTINGS.format(target=self._target, folder=self._folder, port=PORT,
                                       mode=mode, more=self._settings))
        os.chmod(self._file, 0o644)
