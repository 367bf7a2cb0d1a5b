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
from alerts_case import AlertsTest
from support import http2
from support.case import slow
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
        ("SkiplanePortSilent", "deaf")})
    # The one that drains ends before the test does; an enqueue waited for it.
    ALLOWED = frozenset({("SkiplaneBrokerDown", "draining"),
                         ("SkiplaneCallsSlow", "skiplane.v1.BrokerService/Enqueue")})

    def setUp(self):
        super().setUp()
        files = Folder()
        self.addCleanup(files.remove)
        self.rules = files.write("rules", "allow anyone to all on *\n")
        tokens = files.write("tokens", "")
        self.brokers = {
            "killed": self.start_broker(), "deaf": self.start_broker(),
            "draining": self.start_broker("--drain-timeout=60s"),
            "crowded": self.start_broker(f"--max-connections={CROWDED_MAX}"),
            "guarded": self.start_broker(f"--token-file={tokens}", f"--rules-file={self.rules}")}
        self.client = self.client_of(self.brokers["draining"])
        self.client.create_queue("mail")
        self.stranger = self.client_of(self.brokers["guarded"])
        self.watch(**self.brokers)

    def test_each_fires_by_its_cause(self):
        writes = self.database.hold_writes()
        waiting = self.client.broker.Enqueue.future(self.new_request(), timeout=GENEROUS_S)
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

    def new_request(self):
        return {"queue": "mail", "tasks": [self.client.new_task()]}


if __name__ == "__main__":
    unittest.main()
