"""A PostgreSQL that its operator starts and stops with `pg_ctl`, in a folder of its own. It ends
with the test, however that ends."""

import os
import subprocess

from support.cluster import give_away
from support.database import Database, run_sql
from support.process import GENEROUS_S, POSTGRES

AS_POSTGRES = ("setpriv", "--reuid", "postgres", "--regid", "postgres", "--init-groups")
# Waits for the end of its input, which is the test's.
GUARD = ('cat; for file in "$0"/*/postmaster.pid; do if [ -e "$file" ]; then'
         ' pid=$(head -n 1 "$file"); kill -QUIT "$pid";'
         ' while kill -0 "$pid"; do sleep 0.05; done; fi; done 2>/dev/null')


def as_postgres(argv):
    return [*AS_POSTGRES, *argv] if os.geteuid() == 0 else list(argv)


class Postgres:
    """Data folders are below `folder`, and sockets in it. initdb gets the further `options`."""

    def __init__(self, folder, settings=(), options=(), data="data"):
        self.folder = folder
        self.data = os.path.join(folder, data)
        os.makedirs(folder, exist_ok=True)
        give_away(folder)
        self._run("initdb", f"--pgdata={self.data}", "--username=postgres", "--auth=trust",
                  "--encoding=UTF8", "--locale=C", "--no-sync", *options)
        self.configure(self.data, settings)
        self._guard = subprocess.Popen(["sh", "-c", GUARD, folder], stdin=subprocess.PIPE,
                                       stdout=subprocess.DEVNULL)

    def configure(self, data, settings=()):
        with open(os.path.join(data, "postgresql.conf"), "a", encoding="utf-8") as file:
            file.write("\n".join(["", "listen_addresses = ''", "max_connections = 200",
                                  f"unix_socket_directories = '{self.folder}'", *settings, ""]))

    def start(self):
        self._run("pg_ctl", "start", f"--pgdata={self.data}", f"--log={self.data}/start.log")

    def make_database(self, name="skiplane"):
        run_sql(self.uri("postgres"), f"CREATE DATABASE {name}")
        return Database.named(self, name)

    def uri(self, database, user="postgres"):
        return f"postgresql://{user}@/{database}?host={self.folder}"

    def pid(self):
        with open(os.path.join(self.data, "postmaster.pid"), encoding="ascii") as file:
            return int(file.readline())

    def end(self):
        self._guard.stdin.close()
        self._guard.wait()

    @staticmethod
    def _run(name, *arguments):
        subprocess.run(as_postgres([os.path.join(POSTGRES, name), *arguments]), check=True,
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, cwd="/",
                       timeout=GENEROUS_S)
