"""An honest fleet meets no limit with the defaults: 10,000 workers of one principal behind one
address, each with a connection of its own and a lease that waits."""

import resource
import subprocess
import time
import unittest

from support import http2
from support.broker import program
from support.case import SystemTest, leases_begun, slow
from support.client import lease_request
from support.folder import Folder
from support.process import GENEROUS_S

QUEUE = "fleet"
WORKERS = 10000
GROUP = 250  # that come at once: a busy machine answers no more within a handshake's 5 s
CONNECTIONS_MAX = 16000  # the default; 1,000 more descriptors are the broker's own
LEASE = "/skiplane.v1.BrokerService/Lease"


class Fleet(SystemTest):
    def setUp(self):
        usual = resource.getrlimit(resource.RLIMIT_NOFILE)
        if usual[1] < CONNECTIONS_MAX + 1000:
            self.skipTest(f"needs {CONNECTIONS_MAX + 1000} descriptors; ulimit -Hn is {usual[1]}")
        resource.setrlimit(resource.RLIMIT_NOFILE, (usual[1], usual[1]))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, usual)
        super().setUp()
        files = Folder()
        self.addCleanup(files.remove)
        self.token, line = subprocess.run([program(), "make-token", "fleet"], check=True,
                                          capture_output=True, text=True).stdout.splitlines()
        self.broker = self.start_broker(f"--token-file={files.write('tokens', line)}")
        if self.broker.is_sanitized():
            self.skipTest("too slow for all of them to wait at the same time")
        self.client = self.client_of(self.broker, self.token)
        self.client.create_queue(QUEUE)

    # On a busy machine the first ones may have waited for their minute before the last ones come.
    @slow
    def test_none_of_them_is_refused(self):
        self.assertEqual(self.broker.metrics()['skiplane_max_connections{port="grpc"}'],
                         CONNECTIONS_MAX)
        for first in range(0, WORKERS, GROUP):
            for number in range(first, first + GROUP):
                self.begin_lease(f"w{number}")
            end = time.monotonic() + GENEROUS_S
            while leases_begun(self.broker) < first + GROUP:
                self.assertLess(time.monotonic(), end, leases_begun(self.broker))
        metrics = self.broker.metrics()
        self.assertGreaterEqual(metrics['skiplane_connections{port="grpc"}'], WORKERS)
        self.assertEqual(metrics['skiplane_connections_refused_total{port="grpc"}'], 0)
        self.assertEqual([name for name, count in metrics.items()
                          if "RESOURCE_EXHAUSTED" in name and count], [])
        self.client.enqueue(QUEUE)

    def begin_lease(self, worker):
        body = http2.message(lease_request(QUEUE, wait=60, worker_id=worker, duration=600)
                             .SerializeToString())
        connection = http2.open_call(self.broker.address, LEASE, body,
                                     authorization=f"Bearer {self.token}")
        self.addCleanup(connection.close)


if __name__ == "__main__":
    unittest.main()
