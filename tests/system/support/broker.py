"""A `skiplaned` on ports of the kernel's choice, and what it tells of itself besides the API."""

import os
import random
import socket
import tempfile
import urllib.request

import grpc

from support.process import GENEROUS_S, Process

SERVING, NOT_SERVING = b"\x08\x01", b"\x08\x02"  # grpc.health.v1.HealthCheckResponse
BROKER = "skiplane.v1.BrokerService"


def program():
    return os.environ.get("SKIPLANED") or os.path.join(
        os.environ["SKIPLANE_BUILD_DIR"], "server", "skiplaned")


def run_to_end(case, *arguments):
    """A `skiplaned` that ends by itself: its exit code and its output."""
    ended = Process([program(), *arguments])
    case.addCleanup(ended.end)
    return ended.wait(), ended.output


def listen_where_nobody_is_put():
    """On a port that stays free once it is given back: the kernel gives none of these away."""
    with open("/proc/sys/net/ipv4/ip_local_port_range", encoding="ascii") as file:
        end = int(file.read().split()[0])
    for port in random.sample(range(1024, end), 100):
        taken = socket.socket()
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            taken.bind(("127.0.0.1", port))
        except OSError:
            taken.close()
            continue
        taken.listen()
        return taken
    raise AssertionError("no free port")


class Broker(Process):
    """Returns from its constructor when it is ready; when it serves, if `is_awaited` is false.
    `http`: none for the default. `descriptors`: its soft and hard limit of open files, or
    "SOFT:HARD"."""

    def __init__(self, *flags, listen="127.0.0.1:0", http="off", env=None, descriptors=None,
                 is_awaited=True):
        self._folder = tempfile.TemporaryDirectory(prefix="skiplaned-")
        ready_file = os.path.join(self._folder.name, "ready")
        limit = [] if descriptors is None else ["prlimit", f"--nofile={descriptors}"]
        http_flag = [] if http is None else [f"--http-listen={http}"]
        super().__init__([*limit, program(), f"--listen={listen}", "--metrics-listen=127.0.0.1:0",
                          *http_flag, f"--ready-file={ready_file}", *flags], env=env)
        try:
            self._get_ready(ready_file, is_awaited)
        except BaseException:
            self.end()
            raise

    def _get_ready(self, ready_file, is_awaited):
        self.wait_for_output(" serving ")
        with open(ready_file, encoding="utf-8") as file:
            facts = dict(line.strip().split("=", 1) for line in file)
        self.address = facts["listen"]
        self.metrics_address = facts["metrics"]
        self.http_address = facts.get("http")
        self.database_uri = facts.get("database")  # of --embedded
        if not is_awaited:
            return
        with grpc.insecure_channel(self.address) as channel:
            next(status for status in watch(channel) if status == SERVING)

    def metrics(self):
        """The page, as a value per sample."""
        with urllib.request.urlopen(f"http://{self.metrics_address}/metrics",
                                    timeout=GENEROUS_S) as page:
            lines = page.read().decode().splitlines()
        samples = (line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
        return {name: float(value) for name, value in samples}

    def rss(self):
        """Bytes of memory now."""
        return self._memory("VmRSS")

    def peak_rss(self):
        """The most that it ever had."""
        return self._memory("VmHWM")

    def _memory(self, name):
        with open(f"/proc/{self.pid}/status", encoding="ascii") as status:
            line = next(line for line in status if line.startswith(name + ":"))
        return int(line.split()[1]) << 10

    def is_sanitized(self):
        """Then its memory says little."""
        with open(f"/proc/{self.pid}/maps", encoding="utf-8") as maps:
            return "libasan" in maps.read()

    def end(self):
        try:
            super().end()
        finally:
            self._folder.cleanup()


def health_request(service):
    return b"\x0a" + bytes([len(service)]) + service.encode() if service else b""


def check(channel, service=""):
    """grpc.health.v1.Health/Check, spelled in bytes because Debian has no Python module of it."""
    return channel.unary_unary("/grpc.health.v1.Health/Check")(
        health_request(service), timeout=GENEROUS_S, wait_for_ready=True)


def watch(channel, service=""):
    """grpc.health.v1.Health/Watch: each status as it comes."""
    return channel.unary_stream("/grpc.health.v1.Health/Watch")(
        health_request(service), timeout=GENEROUS_S, wait_for_ready=True)


def reflected_services(channel):
    """The answer to ListServices of grpc.reflection, as bytes: they contain the names."""
    method = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"
    return next(channel.stream_stream(method)(iter([b"\x3a\x01*"]), timeout=GENEROUS_S))
