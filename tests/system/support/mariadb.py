"""A private MariaDB: its data in a folder of the test, and no door but a socket there."""

import os
import pwd
import subprocess
import tempfile

from support.process import Process


class MariaDb:
    def __init__(self):
        self._folder = tempfile.TemporaryDirectory(prefix="skiplane-mariadb-")
        data, socket = (os.path.join(self._folder.name, name) for name in ("data", "socket"))
        user = f"--user={pwd.getpwuid(os.geteuid()).pw_name}"
        subprocess.run(["mariadb-install-db", "--no-defaults", f"--datadir={data}", user,
                        "--auth-root-authentication-method=normal", "--skip-test-db"],
                       check=True, capture_output=True)
        # The clients' options, as an operator would have them.
        with open(os.path.join(self._folder.name, ".my.cnf"), "w", encoding="ascii") as file:
            file.write(f"[client]\nsocket={socket}\nuser=root\n")
        self._server = Process(
            ["mariadbd", "--no-defaults", f"--datadir={data}", f"--socket={socket}", user,
             "--skip-networking"], env={"PATH": os.environ["PATH"] + ":/usr/sbin"})
        self._server.wait_for_output("ready for connections")

    @property
    def home(self):
        """For the environment of clients, as HOME."""
        return self._folder.name

    def run(self, sql):
        subprocess.run(["mariadb", "--default-character-set=utf8mb4"], input=sql.encode(),
                       env={**os.environ, "HOME": self.home}, check=True, capture_output=True)

    def end(self):
        if self._server.runs():
            self._server.terminate()
        self._server.end()
        self._folder.cleanup()
