"""An honest fleet meets no limit with the defaults: 10,000 workers of one principal behind one
address, each with a connection of its own and a lease that waits."""

import resource
import subprocess
import time
import unittest

from support import http2
from support.broker import program
from support.case import SystemTest, slow
from support.client import broker_pb2, lease_request
from support.folder import Folder
from support.process import GENEROUS_S

QUEUE = "fleet"
WORKERS = 10000
CONNECTIONS_MAX = 16000  # the default; 1,000 more descriptors are the broker's own
TASKS_PER_CALL = 1000
LEASE = "/skiplane.v1.BrokerService/Lease"
WAITING = f'skiplane_queue_waiting_leases{{queue="{QUEUE}"}}'


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

    def wait_until(self, is_so):
        end = time.monotonic() + GENEROUS_S
        while not is_so():
            self.assertLess(time.monotonic(), end, self.broker.metrics().get(WAITING))

    @slow
    def test_all_of_them_wait_and_each_is_served(self):
        self.assertEqual(self.broker.metrics()['skiplane_max_connections{port="grpc"}'],
                         CONNECTIONS_MAX)
        for i in range(WORKERS):
            body = http2.message(lease_request(QUEUE, wait=60, worker_id=f"w{i}", duration=600)
                                 .SerializeToString())
            connection = http2.open_call(self.broker.address, LEASE, body,
                                         authorization=f"Bearer {self.token}")
            self.addCleanup(connection.close)
        self.wait_until(lambda: self.broker.metrics().get(WAITING, 0) == WORKERS)
        metrics = self.broker.metrics()
        self.assertEqual(metrics['skiplane_connections_refused_total{port="grpc"}'], 0)

        tasks = [broker_pb2.NewTask()] * TASKS_PER_CALL
        for _ in range(WORKERS // TASKS_PER_CALL):
            self.client.enqueue_all(QUEUE, tasks)
        self.wait_until(lambda: self.database.number(
            "SELECT count(DISTINCT session) FROM skiplane.task WHERE state = 2") == WORKERS)
        self.assertEqual([name for name, count in self.broker.metrics().items()
                          if "RESOURCE_EXHAUSTED" in name and count], [])


if __name__ == "__main__":
    unittest.main()
