"""The ground of every fault: a load that goes on through it, a watch on readiness, and what holds
when it is over. A cluster of the test's own if the fault is to all of PostgreSQL."""

import contextlib
import glob
import os
import signal
import socket
import struct
import threading
import time

import grpc

from support import broker as probes
from support.broker import NOT_SERVING, SERVING
from support.case import SystemTest
from support.cluster import READY, Cluster
from support.database import Database
from support.load import Load
from support.process import GENEROUS_S, freeze
from support.proxy import Proxy

RECLAIMED_AT = 'skiplane_chore_last_success_timestamp_seconds{chore="reclaimer"}'
OURS = ("SELECT pid FROM pg_stat_activity WHERE application_name LIKE 'skiplaned%'"
        " AND datname = '{}'")


class Readiness:
    """The changes of a broker's readiness, as its health service tells them."""

    def __init__(self, broker):
        self._changed = threading.Condition()
        self._seen = []
        self._over = False
        self._channel = grpc.insecure_channel(broker.address)
        threading.Thread(target=self._watch, daemon=True).start()
        self.wait_for(SERVING)

    def wait_for(self, *statuses):
        """Since the start, or since the last wait, these came in this order."""
        with self._changed:
            if not self._changed.wait_for(lambda: self._has(statuses), 2 * GENEROUS_S):
                raise AssertionError(f"readiness was {self._seen}, not {statuses}")
            del self._seen[:-1]

    def _has(self, statuses):
        rest = iter(self._seen)
        return all(status in rest for status in statuses)

    def changes(self):
        with self._changed:
            return len(self._seen) - 1

    def end(self):
        self._over = True
        self._channel.close()

    def _watch(self):
        while not self._over:
            with contextlib.suppress(grpc.RpcError, ValueError):
                for status in probes.watch(self._channel):
                    self._note(status)

    def _note(self, status):
        with self._changed:
            if self._seen[-1:] != [status]:
                self._seen.append(status)
                self._changed.notify_all()


class MortalCluster(Cluster):
    """One that a test ends and starts again."""

    @property
    def pid(self):
        return self._postmaster.pid

    def kill(self):
        """SIGKILL to all of its processes."""
        self.freeze()  # nobody is to tidy up after another, and no new one begins
        for process in [*children(self.pid), self.pid]:
            os.kill(process, signal.SIGKILL)
        self._postmaster.wait()

    def stop_at_once(self):
        """An `immediate` shutdown, unless it has ended by itself."""
        if self._postmaster.runs():
            self._postmaster.signal(signal.SIGQUIT)
            self._postmaster.wait()

    def start(self):
        self._postmaster.end()
        self._postmaster = self._program("postgres", "-D", self._data)
        self._postmaster.wait_for_output(READY)

    def freeze(self):
        freeze(self.pid)  # first: its children are then those that there are
        for process in children(self.pid):
            freeze(process)

    def thaw(self):
        for process in [*children(self.pid), self.pid]:
            os.kill(process, signal.SIGCONT)


def reclaim_time(broker):
    """When it last looked for dead workers; 0 if never."""
    return broker.metrics().get(RECLAIMED_AT, 0)


def children(parent):
    found = []
    for path in glob.glob("/proc/[0-9]*/stat"):
        with contextlib.suppress(OSError), open(path, encoding="utf-8") as file:
            pid, rest = file.read().split(" (", 1)
            if int(rest.rsplit(") ", 1)[1].split()[1]) == parent:
                found.append(int(pid))
    return found


class BareConnection:
    """One to PostgreSQL, without a process or a library. OSError if there is none to be had."""

    def __init__(self, cluster, database):
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(GENEROUS_S)
        try:
            self._socket.connect(f"{cluster.folder}/.s.PGSQL.5432")
            facts = f"user\0skiplane\0database\0{database.name}\0\0".encode()
            self._socket.sendall(struct.pack("!ii", len(facts) + 8, 3 << 16) + facts)
            self._read_answer()
        except BaseException:
            self._socket.close()
            raise

    def run(self, statement, bound_s=GENEROUS_S):
        """TimeoutError if there is no answer within that time: then it is of no use any more."""
        self._socket.settimeout(bound_s)
        text = statement.encode() + b"\0"
        self._socket.sendall(b"Q" + struct.pack("!i", len(text) + 4) + text)
        self._read_answer()

    def _read_answer(self):
        kind = b""
        while kind != b"Z":
            kind, size = struct.unpack("!ci", self._exactly(5))
            self._exactly(size - 4)
            if kind == b"E":
                raise ConnectionRefusedError("PostgreSQL refused it")

    def _exactly(self, size):
        block = b""
        while len(block) < size:
            more = self._socket.recv(size - len(block))
            if not more:
                raise ConnectionResetError("PostgreSQL hung up")
            block += more
        return block

    def close(self):
        self._socket.close()


class FaultTest(SystemTest):
    """own_cluster: lines of postgresql.conf for a cluster of the test's own; None for the shared
    one."""

    own_cluster = None

    def setUp(self):
        if self.own_cluster is None:
            super().setUp()
            return
        self.cluster = self.make_cluster()
        self.addCleanup(self.cluster.end)
        self.database = Database(self.cluster)

    def make_cluster(self):
        return MortalCluster(self.own_cluster)

    def start_behind_proxy(self, cluster):
        """A broker that reaches PostgreSQL through a proxy, and this."""
        proxy = Proxy(cluster)
        self.addCleanup(proxy.end)
        return self.start_broker(f"--database={proxy.uri(self.database)}"), proxy

    def begin(self, *brokers, **options):
        """A load on these brokers; or on a new one, whose process and readiness are watched."""
        self.brokers = brokers or [self.start_broker()]
        self.broker = self.brokers[0]
        self.client = self.client_of(self.broker)
        Load.create_queues(self.client)
        self.watch_readiness()
        self.load = Load([broker.address for broker in self.brokers], **options)
        self.addCleanup(self.load.end)
        self.rates_before = self.load.steady_rates()

    def watch_readiness(self):
        self.readiness = Readiness(self.broker)
        self.addCleanup(self.readiness.end)

    def our_backends(self, which="true"):
        """Of the broker; all, or those for which this condition holds."""
        rows = self.database.run(f"{OURS.format(self.database.name)} AND {which}")
        return [int(pid) for pid, in rows]

    def end_our_backends(self, connection):
        """All of the broker, by a BareConnection."""
        ours = OURS.format(self.database.name)
        connection.run(f"SELECT pg_terminate_backend(pid) FROM ({ours}) AS ours")

    def recover(self, retried=()):
        """To be called when the cause of the fault is gone."""
        self.load.wait_for_half(self.rates_before)
        self.readiness_is_back()
        self.upkeep_is_back()
        self.load.drain()
        self.load.check(self, retried)
        self.assert_not_restarted()

    def readiness_is_back(self):
        self.readiness.wait_for(SERVING)

    def upkeep_is_back(self):
        """A broker goes on looking for dead workers."""
        before = [reclaim_time(broker) for broker in self.brokers]
        end = time.monotonic() + GENEROUS_S
        while [reclaim_time(broker) for broker in self.brokers] == before:
            self.assertLess(time.monotonic(), end, "nobody looks for dead workers")
            self.load.wait_for_acks(1)

    def assert_not_restarted(self):
        self.assertTrue(all(broker.runs() for broker in self.brokers))

    def assert_unready(self):
        """Waits for it."""
        self.readiness.wait_for(NOT_SERVING)
