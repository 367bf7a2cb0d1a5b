"""A machine with brokers or workers of its own: its folder of settings, and the services that
`systemctl` (tests/day_two/programs) starts, stops and reloads there."""

import os
import signal
import socketserver
import subprocess
import threading
from unittest import mock

from support import broker as brokers
from support import cli
from support.broker import Broker
from support.process import GENEROUS_S, Process


def free_address():
    """It stays free while its broker is restarted."""
    with brokers.listen_where_nobody_is_put() as taken:
        return f"127.0.0.1:{taken.getsockname()[1]}"


class BrokerService:
    """`skiplaned --config`, at an address that it keeps."""

    def __init__(self, etc, *flags, **options):
        self.address = free_address()
        self.config = os.path.join(etc, "skiplaned.conf")
        self._flags, self._options = flags, options
        self.program = brokers.program()
        self.process = None

    def start(self):
        with mock.patch.dict(os.environ, SKIPLANED=self.program):
            self.process = Broker(f"--config={self.config}", *self._flags, listen=self.address,
                                  **self._options)

    def stop(self):
        if self.process is not None and self.process.runs():
            assert self.process.terminate() == 0, self.process.output
            self.process.end()

    def reload(self):
        """As the unit does; and waits until the broker has said that it is done."""
        subprocess.run([brokers.program(), "check-config", "--config", self.config], check=True,
                       stdout=subprocess.DEVNULL, timeout=GENEROUS_S)
        before = self.process.output.count(" reloaded ")
        self.process.signal(signal.SIGHUP)
        self.process.wait_for_output(" reloaded ", times=before + 1)

    def end(self):
        if self.process is not None:
            self.process.end()


class WorkerService:
    """`skiplane work QUEUE -- PROGRAM…`, as it is told by its environment."""

    def __init__(self, queue, environment, program=("cat",), options=()):
        self._environment = environment
        self._command = ["work", *options, queue, "--", *program]
        self.process = None

    def start(self):
        self.process = Process([cli.program(), *self._command], env=self._environment)

    def stop(self):
        if self.process is not None and self.process.runs():
            assert self.process.terminate() == 0, self.process.output
            self.process.end()

    def end(self):
        if self.process is not None:
            self.process.end()


class Machine:
    """`services` by name; `socket` is where its systemctl asks."""

    def __init__(self, folder):
        self.etc = os.path.join(folder, "etc")
        self.socket = os.path.join(folder, "systemd")
        self.services = {}
        os.makedirs(self.etc)
        os.chmod(folder, 0o755)
        machine = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self):
                self.wfile.write(machine.do(self.rfile.readline().decode().split()).encode())

        self._server = socketserver.UnixStreamServer(self.socket, Handler)
        # One thread for as long as the test runs: what it starts dies with it.
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def do(self, words):
        """What a systemctl was asked for: its exit code, and why if it is not 0."""
        verb, *names = [word for word in words if not word.startswith("--")]
        try:
            for name in names:
                service = self.services[name]
                if verb in ("stop", "restart", "disable"):
                    service.stop()
                if verb in ("start", "restart", "enable"):
                    service.start()
                if verb == "reload":
                    service.reload()
        except Exception as error:  # pylint: disable=broad-except
            return f"1 systemctl {' '.join(words)}: {error!r}"
        return "0"

    def end(self):
        self._server.shutdown()
        self._server.server_close()
        for service in self.services.values():
            service.end()
