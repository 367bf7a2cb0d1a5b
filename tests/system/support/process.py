"""A program that a test runs. Its output is kept, and it dies with the test, however that ends.

Everything is waited for by a signal (output that arrived, the end of the process) with a generous
bound, never by a pause.
"""

import glob
import os
import select
import signal
import subprocess
import threading
import time

GENEROUS_S = 60
# PostgreSQL's programs, the newest. They are found before Debian's script of the name psql, which
# takes longer to start the right one than most statements take to run.
POSTGRES = max(glob.glob("/usr/lib/postgresql/*/bin"), key=lambda path: int(path.split("/")[-2]))
os.environ["PATH"] = os.pathsep.join([POSTGRES, os.environ["PATH"]])

# Whoever runs the tests may ignore some, as nohup does, and a shell for what it starts with &.
HEARS_SIGNALS = ["env", "--default-signal=HUP,INT,QUIT,TERM"]
# By which a program ends that has a defect.
CRASHES = {signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGSEGV,
           signal.SIGSYS, signal.SIGTRAP}


def are_all_stopped(pid):
    """The threads of the process, or ended."""
    for stat in glob.glob(f"/proc/{pid}/task/*/stat"):
        try:
            with open(stat, encoding="utf-8") as line:
                if line.read().rpartition(")")[2].split()[0] not in "TZX":
                    return False
        except FileNotFoundError:  # it has just ended
            return False
    return True


def freeze(pid):
    """When it returns no thread runs: the signal alone stops them a little later."""
    os.kill(pid, signal.SIGSTOP)
    end = time.monotonic() + GENEROUS_S
    while not are_all_stopped(pid):
        if time.monotonic() > end:
            raise AssertionError(f"{pid} does not stop")


class Process:
    def __init__(self, argv, env=None, user=None, directory="/"):
        switch = []
        if user is not None and os.geteuid() == 0:
            switch = ["--reuid", user, "--regid", user, "--init-groups"]
        self._changed = threading.Condition()
        self._output = b""
        self._output_ended = False
        self._crashes = set(CRASHES)
        self._child = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", *switch, *HEARS_SIGNALS, *argv], cwd=directory,
            env={**os.environ, **(env or {})}, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT)
        self._collector = threading.Thread(target=self._collect, daemon=True)
        self._collector.start()

    @property
    def pid(self):
        return self._child.pid

    @property
    def output(self):
        with self._changed:
            return self._output.decode(errors="replace")

    def runs_for(self, seconds):
        """Whether it still runs then. Not to wait for something that could be waited for."""
        end = os.pidfd_open(self.pid)
        try:
            return not select.select([end], [], [], seconds)[0]
        finally:
            os.close(end)

    def runs(self):
        return self._child.poll() is None

    def signal(self, number):
        self._crashes.discard(number)
        self._child.send_signal(number)

    def kill(self):
        self.signal(signal.SIGKILL)
        return self.wait()

    def terminate(self):
        self.signal(signal.SIGTERM)
        return self.wait()

    def freeze(self):
        freeze(self.pid)

    def thaw(self):
        self.signal(signal.SIGCONT)

    def tell(self, line):
        self._child.stdin.write(line.encode() + b"\n")
        self._child.stdin.flush()

    def wait(self, bound_s=GENEROUS_S):
        """The exit code; minus the signal's number if one ended it. Fails if it crashed."""
        code = self._wait_for_code(bound_s)
        self._collector.join(GENEROUS_S)
        self._look_for_crash(code)
        return code

    def _wait_for_code(self, bound_s):
        if self._child.poll() is None:
            end = os.pidfd_open(self.pid)
            try:
                if not select.select([end], [], [], bound_s)[0]:
                    raise AssertionError(f"still runs after {bound_s} s:\n{self.output}")
            finally:
                os.close(end)
        return self._child.wait()

    def _look_for_crash(self, code):
        if -code in self._crashes:
            self._collector.join(GENEROUS_S)  # its last words are told
            raise AssertionError(f"ended by {signal.Signals(-code).name}:\n{self.output}")

    def wait_for_output(self, text, bound_s=GENEROUS_S, times=1):
        """Fails if the output ends before `text` was there so often, or when the bound passes."""
        wanted = text.encode()
        with self._changed:
            self._changed.wait_for(
                lambda: self._output.count(wanted) >= times or self._output_ended, bound_s)
            if self._output.count(wanted) < times:
                why = "it ended" if self._output_ended else f"after {bound_s} s"
                raise AssertionError(f"no {text!r} ({why}) in the output:\n"
                                     f"{self._output.decode()}")

    def end(self):
        """SIGKILL if it still runs. Fails if it has crashed."""
        try:
            if self.runs():
                self.thaw()
                self.kill()
            self._look_for_crash(self._child.returncode)
        finally:
            self._child.stdin.close()
            self._child.stdout.close()

    def _collect(self):
        while block := os.read(self._child.stdout.fileno(), 65536):
            with self._changed:
                self._output += block
                self._changed.notify_all()
        with self._changed:
            self._output_ended = True
            self._changed.notify_all()
