"""The alerts of single brokers and of their callers fire by their causes, and about no other
broker."""

import os
import signal
import socket
import subprocess
import unittest

import place  # noqa: F401  (first: it finds the others)
import grpc
import prometheus
from alerts_case import AlertsTest, start_with_certificate
from support import http2
from support.broker import program
from support.case import slow
from support.client import broker_pb2
from support.folder import Folder
from support.process import GENEROUS_S

CROWDED_MAX = 10


@slow
@unittest.skipUnless(prometheus.IS_INSTALLED, prometheus.WHY_NOT)
class Brokers(AlertsTest):
    EXPECTED = frozenset({
        ("SkiplaneBrokerDown", "killed"), ("SkiplaneBrokerNotReady", "draining"),
        ("SkiplaneReloadFailed", "guarded"), ("SkiplaneCallersDenied", "UNAUTHENTICATED"),
        ("SkiplaneConnectionsNearlyAll", "crowded"), ("SkiplaneConnectionsRefused", "crowded"),
        ("SkiplanePortSilent", "deaf"), ("SkiplaneCertificateExpires", "expiring")})
    # The one that drains ends before the test does; an enqueue waited for it, and its task is left.
    ALLOWED = frozenset({("SkiplaneBrokerDown", "draining"),
                         ("SkiplaneCallsSlow", "skiplane.v1.BrokerService/Enqueue"),
                         ("SkiplaneQueueWithoutWorkers", "mail"),
                         ("SkiplaneReadyTaskTooOld", "mail")})

    def setUp(self):
        super().setUp()
        files = Folder()
        self.addCleanup(files.remove)
        self.rules = files.write("rules", "allow token:ann to all on *\n")
        made = subprocess.run([program(), "make-token", "ann"], check=True, capture_output=True,
                              text=True)
        tokens = files.write("tokens", made.stdout.splitlines()[1])
        self.brokers = {
            "deaf": self.start_broker(),  # the first one leads, so that nobody takes the lead over
            "killed": self.start_broker(), "draining": self.start_broker("--drain-timeout=60s"),
            "crowded": self.start_broker(f"--max-connections={CROWDED_MAX}"),
            "guarded": self.start_broker(f"--token-file={tokens}", f"--rules-file={self.rules}")}
        self.client = self.client_of(self.brokers["draining"])
        self.client.create_queue("mail")
        self.stranger = self.client_of(self.brokers["guarded"])
        self.watch(**self.brokers)

    def test_each_fires_by_its_cause(self):
        # First, as Prometheus then connects to all of them anew.
        self.join("expiring", start_with_certificate(self))
        writes = self.database.hold_writes()
        request = broker_pb2.EnqueueRequest(queue="mail", tasks=[self.client.new_task()])
        waiting = self.client.broker.Enqueue.future(request, timeout=GENEROUS_S)
        self.database.wait_for_lock_wait()
        self.brokers["draining"].signal(signal.SIGTERM)
        self.brokers["killed"].kill()
        with open(self.rules, "a", encoding="utf-8") as file:
            file.write("allow\n")
        self.let_no_one_in(self.brokers["deaf"])
        self.fill(self.brokers["crowded"])
        self.await_fired(("SkiplaneBrokerNotReady", "draining"), go_on=self.go_on)
        writes.release()
        waiting.exception(GENEROUS_S)
        self.await_fired(*self.EXPECTED, go_on=self.go_on)

    def go_on(self):
        """What goes wrong again and again."""
        with self.assertRaises(grpc.RpcError):
            self.stranger.queue("mail")
        self.connect(self.brokers["deaf"])

    def let_no_one_in(self, broker):
        """It gets no further descriptor."""
        has = len(os.listdir(f"/proc/{broker.pid}/fd"))
        subprocess.run(["prlimit", f"--pid={broker.pid}", f"--nofile={has}:"], check=True)

    def fill(self, broker):
        """One address may have 80 % of the connections, and another the rest."""
        for _ in range(CROWDED_MAX):
            self.connect(broker)
            self.connect(broker, "127.0.0.2")

    def connect(self, broker, address="127.0.0.1"):
        host, port = broker.address.rsplit(":", 1)
        connection = socket.create_connection((host, int(port)), GENEROUS_S, (address, 0))
        self.addCleanup(connection.close)
        connection.sendall(http2.PREFACE + http2.frame(http2.SETTINGS, 0, 0))


if __name__ == "__main__":
    unittest.main()
