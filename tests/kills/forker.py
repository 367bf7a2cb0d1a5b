"""Starts and kills workers and producers: forker.py FOLDER SETTINGS. It reads commands, "start
NAME" and "kill NAME", and forks, so that a process costs milliseconds. It says "killed NAME is
gone", or "fell NAME is gone" of one that had ended before. Until one is forked nothing of gRPC
runs."""

import ctypes
import json
import os
import signal
import sys
import traceback

import place  # noqa: F401  (first)
from call_worker import CallWorker
from journal import PRODUCER
from producer import Producer
from worker import Worker

PR_SET_PDEATHSIG = 1


def be(name, folder, settings):
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    try:
        of_workers = (Worker, CallWorker)[int(name.rsplit("-", 1)[1]) % 2]
        kind = Producer if name.startswith(PRODUCER) else of_workers
        kind(folder, name, settings).run()
    except BaseException:  # pylint: disable=broad-except
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def kill(name, pid):
    os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    told = "killed" if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL else "fell"
    os.write(1, f"{told} {name} is gone\n".encode())


def main():
    folder, settings = sys.argv[1], json.loads(sys.argv[2])
    pids = {}
    os.write(1, b"ready\n")
    for line in sys.stdin:
        command, name = line.split()
        if command == "kill":
            kill(name, pids.pop(name))
            continue
        pids[name] = os.fork()
        if pids[name] == 0:
            be(name, folder, settings)


if __name__ == "__main__":
    main()
