"""The command line on a terminal."""

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios

from support.cli import program
from support.process import GENEROUS_S


class Terminal:
    """A program on a terminal of 80 columns and some rows."""

    def __init__(self, arguments, environment, rows=24):
        self.ours, self.theirs = pty.openpty()
        self._set_rows(rows)
        self.before = termios.tcgetattr(self.theirs)
        self.seen = b""
        self.process = subprocess.Popen([program(), *arguments], stdin=self.theirs,
                                        stdout=self.theirs, stderr=self.theirs, env=environment)

    def resize(self, rows):
        self._set_rows(rows)
        # The kernel tells only those whose controlling terminal it is.
        self.process.send_signal(signal.SIGWINCH)

    def _set_rows(self, rows):
        fcntl.ioctl(self.theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, 80, 0, 0))

    def wait_for(self, text):
        """Takes what is shown, up to and with `text`."""
        while text not in self.seen:
            if not select.select([self.ours], [], [], GENEROUS_S)[0]:
                raise AssertionError(f"no {text!r} in {self.seen!r}")
            self.seen += os.read(self.ours, 65536)
        self.seen = self.seen.split(text, 1)[1]

    def press(self, keys):
        os.write(self.ours, keys)

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(GENEROUS_S)
        os.close(self.ours)
        os.close(self.theirs)
