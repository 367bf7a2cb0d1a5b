"""Callers behind nginx and HAProxy, with the settings that are shipped, are served as without."""

import functools
import json
import subprocess
import time
import unittest

import grpc

from support import front
from support.broker import SERVING, health_request, program
from support.case import SystemTest, slow
from support.client import (DEADLINE_S, OPTIONS, admin_pb2, admin_pb2_grpc, broker_pb2,
                            broker_pb2_grpc, lease_request, reason_of, seconds)
from support.dashboard import SECURE_COOKIE, Browser
from support.folder import Folder
from support.http import HttpClient, trusting
from support.http_case import ANY_PORT
from support.process import GENEROUS_S

QUEUE = "mail"


def make_token(name):
    return subprocess.run([program(), "make-token", name], check=True, capture_output=True,
                          text=True).stdout.splitlines()


def with_each(test):
    """Runs the method once behind nginx, and once behind HAProxy."""
    @functools.wraps(test)
    def run(self):
        for proxy in front.SETTINGS:
            with self.subTest(proxy):
                self.begin(proxy)
                test(self)
                self.front.end()
                self.broker.end()
    return run


@slow
class ProxyFront(SystemTest):
    def begin(self, proxy):
        self.files = Folder()
        self.addCleanup(self.files.remove)
        self.files.make_pair("proxy")
        pair = self.files.read("proxy.crt") + self.files.read("proxy.key")
        self.files.write("proxy.pem", pair.decode())
        self.token, line = make_token("ci")
        self.broker = self.start_broker(f"--token-file={self.files.write('tokens', line)}",
                                        "--auto-create-queues", "--dashboard", http=ANY_PORT)
        self.front = front.start(proxy, self.broker, self.files)
        self.addCleanup(self.front.end)
        self.shown = [("authorization", f"Bearer {self.token}")]
        self.http = self.http_client()
        self.channel = self.connect()
        self.stub = broker_pb2_grpc.BrokerServiceStub(self.channel)
        self.admin = admin_pb2_grpc.AdminServiceStub(self.channel)

    def connect(self):
        credentials = grpc.ssl_channel_credentials(self.files.read("proxy.crt"))
        channel = grpc.secure_channel(self.front.address, credentials, OPTIONS)
        self.addCleanup(channel.close)
        return channel

    def http_client(self):
        client = HttpClient(self.front.http_address, trusting(self.files.path("proxy.crt")))
        self.addCleanup(client.close)
        return client

    def call(self, method, request, timeout=DEADLINE_S):
        return method(request, timeout=timeout, metadata=self.shown)

    def enqueue(self, payload=b"x"):
        return self.call(self.stub.Enqueue, broker_pb2.EnqueueRequest(
            queue=QUEUE, tasks=[broker_pb2.NewTask(payload=payload)]))

    def waiting(self):
        return self.broker.metrics().get(f'skiplane_queue_waiting_leases{{queue="{QUEUE}"}}', 0)

    def wait_until_waiting(self, count):
        end = time.monotonic() + GENEROUS_S
        while self.waiting() != count:
            self.assertLess(time.monotonic(), end, self.broker.metrics())

    @with_each
    def test_the_broker_knows_who_calls_and_tells_strangers_so(self):
        who = self.call(self.admin.WhoAmI, admin_pb2.WhoAmIRequest())
        self.assertEqual(who.principal, "token:ci")
        answer = self.http.call("AdminService/WhoAmI", {}, Authorization=f"Bearer {self.token}")
        self.assertEqual(answer.json()["principal"], "token:ci")
        with self.assertRaises(grpc.RpcError) as refusal:
            self.admin.WhoAmI(admin_pb2.WhoAmIRequest(), timeout=DEADLINE_S)
        self.assertEqual(refusal.exception.code(), grpc.StatusCode.UNAUTHENTICATED)
        self.assertEqual(reason_of(refusal.exception), "CREDENTIALS_MISSING")
        self.assert_plain_metadata(refusal.exception)
        self.assertEqual(self.http.call("AdminService/WhoAmI", {}).status, 401)

    @with_each
    def test_a_large_task_and_one_that_is_too_large(self):
        payload = b"x" * (1 << 20)
        self.enqueue(payload)
        [task] = self.call(self.stub.Lease, lease_request(QUEUE)).tasks
        self.assertEqual(task.payload, payload)
        with self.assertRaises(grpc.RpcError) as refusal:
            self.enqueue(payload + b"x")
        self.assertEqual(reason_of(refusal.exception), "INVALID_FIELD")

    @with_each
    def test_a_lease_waits_for_its_task(self):
        parked = self.stub.Lease.future(lease_request(QUEUE, wait=60), timeout=DEADLINE_S,
                                        metadata=self.shown)
        self.wait_until_waiting(1)
        self.enqueue()
        self.assertEqual(len(parked.result().tasks), 1)

    @with_each
    def test_who_leaves_takes_no_task_with_it(self):
        # The broker knows the deadline, and answers before it.
        self.assertEqual(list(self.call(self.stub.Lease, lease_request(QUEUE, wait=60),
                                        timeout=2).tasks), [])
        parked = self.stub.Lease.future(lease_request(QUEUE, wait=60), timeout=DEADLINE_S,
                                        metadata=self.shown)
        self.wait_until_waiting(1)
        parked.cancel()
        self.wait_until_waiting(0)
        leaving = self.http_client()
        lease = {"queues": [{"name": QUEUE}], "wait": "60s", "maxTasks": 1}
        leaving.connection.request(
            "POST", "/skiplane.v1.BrokerService/Lease", json.dumps(lease),
            {"Content-Type": "application/json", "Authorization": f"Bearer {self.token}"})
        self.wait_until_waiting(1)
        leaving.close()
        self.wait_until_waiting(0)
        self.enqueue()
        self.assertEqual(len(self.call(self.stub.Lease, lease_request(QUEUE)).tasks), 1)

    @with_each
    def test_a_stream_goes_on(self):
        stream = self.channel.unary_stream("/grpc.health.v1.Health/Watch")(
            health_request(""), timeout=DEADLINE_S)
        self.assertEqual(next(stream), SERVING)
        self.database.refuse_writes()  # its connections end
        self.assertNotEqual(next(stream), SERVING)
        stream.cancel()
        self.database.take_writes()

    @with_each
    def test_a_browser_logs_in_at_the_dashboard_by_tls_only(self):
        browser = Browser(self.front.http_address, trusting(self.files.path("proxy.crt")))
        self.addCleanup(browser.close)
        self.assertEqual(browser.request("GET", "/dashboard/queues/mail").status, 200)
        own = {"Origin": f"https://{self.front.http_address}", "Sec_Fetch_Site": "same-origin"}
        self.assertEqual(browser.log_in(self.token, **own).status, 204)
        self.assertEqual(list(browser.cookies), [SECURE_COOKIE])
        self.assertIsNone(browser.reason_of(**own))
        browser.log_out(**own)
        self.assertEqual(browser.reason_of(**own), "CREDENTIALS_MISSING")

    @with_each
    def test_what_is_not_for_callers_is_not_there(self):
        for page in ("/healthz", "/readyz"):
            self.assertEqual(self.http.request("GET", page).status, 200, page)
        for page in ("/metrics", "/", "/skiplane"):
            self.assertEqual(self.http.request("GET", page).status, 404, page)
        with self.assertRaises(grpc.RpcError) as refusal:
            self.channel.unary_unary("/grpc.reflection.v1alpha.ServerReflection/"
                                     "ServerReflectionInfo")(b"", timeout=DEADLINE_S)
        self.assertEqual(refusal.exception.code(), grpc.StatusCode.UNIMPLEMENTED)

    @with_each
    def test_a_broker_that_ends_is_unavailable_and_found_again(self):
        request = admin_pb2.GetTaskRequest(queue=QUEUE, key="k", wait=seconds(60))
        self.broker.kill()
        with self.assertRaises(grpc.RpcError) as refusal:
            self.call(self.admin.GetTask, request)
        self.assertEqual(refusal.exception.code(), grpc.StatusCode.UNAVAILABLE)
        self.broker = self.start_broker(
            f"--token-file={self.files.path('tokens')}", "--auto-create-queues",
            listen=self.broker.address, http=self.broker.http_address)
        end = time.monotonic() + GENEROUS_S
        while True:
            try:
                self.enqueue()
                break
            except grpc.RpcError as error:
                self.assertEqual(error.code(), grpc.StatusCode.UNAVAILABLE, error)
                self.assertLess(time.monotonic(), end)


if __name__ == "__main__":
    unittest.main()
