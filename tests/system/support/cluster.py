"""A PostgreSQL server: the one that the whole run shares (SKIPLANE_TEST_PG holds its folder), or
one of a test's own. It listens on a unix socket in its own folder."""

import atexit
import functools
import os
import pwd
import shutil
import signal
import tempfile

from support.process import POSTGRES, Process

VARIABLE = "SKIPLANE_TEST_PG"
READY = "database system is ready to accept connections"
READY_TO_READ = "database system is ready to accept read-only connections"


class Cluster:
    """One of a test's own, in a new folder of `place`, or beside the shared one. `settings` are
    lines of postgresql.conf; initdb gets the further `options`. A standby has no primary and only
    reads. `env` is its server's, as NAME=VALUE."""

    def __init__(self, settings=(), place=None, options=(), standby=False, env=()):
        shared_folder = os.environ.get(VARIABLE)
        if place is None and shared_folder:
            place = os.path.dirname(shared_folder)
        self.folder = tempfile.mkdtemp(prefix="skiplane-pg-", dir=place)
        self._data = os.path.join(self.folder, "data")
        give_away(self.folder)
        if shared_folder and not options:
            made = Process(["cp", "-a", os.path.join(shared_folder, "pristine"), self._data],
                           user="postgres")
        else:
            made = self._program("initdb", "-D", self._data, "-U", "skiplane", "-A", "trust",
                                 "-E", "UTF8", "--locale=C", "--no-sync", *options)
        if made.wait() != 0:
            raise AssertionError(made.output)
        made.end()
        with open(os.path.join(self._data, "postgresql.conf"), "a", encoding="utf-8") as file:
            file.write("\n".join(["listen_addresses = ''", "max_connections = 200",
                                  f"unix_socket_directories = '{self.folder}'", *settings, ""]))
        if standby:
            with open(os.path.join(self._data, "standby.signal"), "w", encoding="utf-8"):
                pass
        # Set by a program of its own: what comes before it runs as another user.
        self._postmaster = Process(
            ["env", *env, os.path.join(POSTGRES, "postgres"), "-D", self._data], user="postgres")
        self._postmaster.wait_for_output(READY_TO_READ if standby else READY)

    def uri(self, database, user="skiplane"):
        return f"postgresql://{user}@/{database}?host={self.folder}"

    @property
    def pid(self):
        return self._postmaster.pid

    def log(self):
        """What the server has said so far."""
        return self._postmaster.output

    def wait_for_log(self, text):
        self._postmaster.wait_for_output(text)

    def end(self):
        if self._postmaster.runs():
            self._postmaster.signal(signal.SIGQUIT)
            self._postmaster.wait()
        self._postmaster.end()
        shutil.rmtree(self.folder)

    def _program(self, name, *arguments):
        return Process([os.path.join(POSTGRES, name), *arguments], user="postgres")


def give_away(folder):
    """To the account that PostgreSQL runs under if we are root."""
    if os.geteuid() == 0:
        owner = pwd.getpwnam("postgres")
        os.chown(folder, owner.pw_uid, owner.pw_gid)


class SharedCluster(Cluster):
    def __init__(self, folder):  # pylint: disable=super-init-not-called
        self.folder = folder


@functools.cache
def shared():
    folder = os.environ.get(VARIABLE)
    if folder:
        return SharedCluster(folder)
    cluster = Cluster()
    atexit.register(cluster.end)
    return cluster
