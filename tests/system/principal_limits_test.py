"""A principal that takes all that it may leaves room to others, and its own workers go on."""

import os
import subprocess
import time
import unittest

import grpc

from support import http2
from support.broker import program
from support.by_http import ByHttp
from support.case import SystemTest, leases_begun
from support.client import broker_pb2, lease_request, reason_of, retry_delay_of
from support.folder import Folder
from support.http_case import ANY_PORT
from support.process import GENEROUS_S
from support.producer import arguments

QUEUE = "shared"
GREEDY, MODEST = "greedy", "modest"
DURATION_S = 60
WAITING = 4   # of which one principal may have a half
CALLS = 300   # 1 % of 30,000
# Of 32 MiB, 1 % are 335,545 bytes; of 40 MiB, which is with the reserve, 419,431.
BYTES = 380000
# Of what may be leased and not read, 16 MiB, one principal has 12.
UNREAD, UNREAD_BYTES = 16, 1000000
SERVICE = "/skiplane.v1.BrokerService/"


class Principals(SystemTest):

    def setUp(self):
        super().setUp()
        self.files = Folder()
        self.addCleanup(self.files.remove)
        self.tokens = {}
        lines = []
        for name in (GREEDY, MODEST):
            made = subprocess.run([program(), "make-token", name], check=True,
                                  capture_output=True, text=True).stdout.splitlines()
            self.tokens[name] = made[0]
            lines.append(made[1])
        self.token_file = self.files.write("tokens", "\n".join(lines) + "\n")

    def serve(self, *flags):
        broker = self.start_broker(f"--token-file={self.token_file}", *flags, http=ANY_PORT)
        self.greedy = self.client_of(broker, self.tokens[GREEDY])
        self.modest = self.client_of(broker, self.tokens[MODEST])
        self.modest.create_queue(QUEUE, max_payload_bytes=1 << 20)
        self.modest.create_queue("other")
        return broker

    def lease_of(self, client, wait=60):
        client.enqueue("other", b"x")
        [task] = client.lease("other", wait=wait, worker_id="w0", duration=DURATION_S)
        return task

    def assert_settles(self, client, task):
        """What keeps work from being done twice goes on."""
        self.assertTrue(client.heartbeat("w0", DURATION_S, task).session_alive)
        self.assertEqual(client.ack(task), ["SETTLED"])

    def refusal_of(self, call):
        with self.assertRaises(grpc.RpcError) as caught:
            call()
        return caught.exception

    def assert_greedy_is_refused(self, broker, call, limit):
        error = self.refusal_of(call)
        self.assertEqual((error.code().name, reason_of(error)),
                         ("RESOURCE_EXHAUSTED", "TOO_MANY_CALLS_OF_PRINCIPAL"), error)
        self.assertIn(f"`token:{GREEDY}`", error.details())
        self.assertIn("--principal-share", error.details())
        self.assertGreater(retry_delay_of(error), 0)
        broker.wait_for_output(f" principal_limited principal=token:{GREEDY} limit={limit}")

    def park(self, broker, client):
        before = leases_begun(broker)
        call = client.lease_later(QUEUE, duration=DURATION_S)
        self.wait_until(lambda: leases_begun(broker) > before)
        return call

    def wait_until(self, is_so):
        end = time.monotonic() + GENEROUS_S
        while not is_so():
            self.assertLess(time.monotonic(), end)

    def deaf(self, broker, method, bodies):
        connection = http2.open_deaf_calls(broker.address, SERVICE + method, bodies,
                                           authorization=f"Bearer {self.tokens[GREEDY]}")
        self.addCleanup(connection.close)
        return connection

    def wait_until_refused(self, call):
        """Until what is under way has reached the broker."""
        end = time.monotonic() + GENEROUS_S
        while True:
            self.assertLess(time.monotonic(), end, "it is never refused")
            try:
                call()
            except grpc.RpcError:
                return

    def test_one_that_waits_as_often_as_it_may(self):
        broker = self.serve(f"--max-waiting-calls={WAITING}", "--principal-share=50")
        mine = self.lease_of(self.greedy)
        parked = [self.park(broker, self.greedy) for _ in range(WAITING // 2)]
        self.assert_greedy_is_refused(broker, lambda: self.greedy.lease(QUEUE), "waiting_calls")

        parked.append(self.park(broker, self.modest))
        self.assert_settles(self.modest, self.lease_of(self.modest))
        self.assert_settles(self.greedy, mine)
        self.assert_settles(self.greedy, self.lease_of(self.greedy, wait=0))
        self.modest.enqueue_all(QUEUE, [self.modest.new_task()] * len(parked))
        self.assertEqual([len(call.result().tasks) for call in parked], [1] * len(parked))

    def test_one_with_as_many_calls_under_way_as_it_may(self):
        broker = self.serve("--principal-share=1")
        mine = self.lease_of(self.greedy)
        body = http2.message(lease_request(QUEUE).SerializeToString())
        begun = leases_begun(broker)
        deaf = self.deaf(broker, "Lease", [body] * CALLS)
        self.wait_until(lambda: leases_begun(broker) == begun + CALLS)
        self.wait_until_refused(lambda: self.greedy.enqueue("other"))  # begun, and counted
        self.assert_greedy_is_refused(broker, lambda: self.greedy.enqueue("other"), "calls")

        self.assert_settles(self.modest, self.lease_of(self.modest))
        self.assert_settles(self.greedy, mine)
        deaf.close()
        self.wait_until_served(self.greedy)

    def wait_until_served(self, client, payload=b""):
        """A call counts until a moment after its answer has come."""
        end = time.monotonic() + GENEROUS_S
        while True:
            try:
                return client.enqueue(QUEUE, payload)
            except grpc.RpcError as error:
                self.assertLess(time.monotonic(), end, error)

    def test_one_with_as_many_bytes_under_way_as_it_may(self):
        broker = self.serve("--principal-share=1")
        mine = self.lease_of(self.greedy)
        # Not by calls: one of these is refused if the one before still counts, and that would be
        # the only line of the log within ten seconds.
        for _ in range(2):
            self.database.run(
                f"SELECT skiplane.enqueue({arguments(QUEUE, os.urandom(BYTES // 2))})")
        body = http2.message(
            lease_request(QUEUE, wait=60, max_tasks=2, worker_id="deaf").SerializeToString())
        deaf = self.deaf(broker, "Lease", [body])
        self.wait_until_refused(lambda: self.greedy.enqueue("other"))
        self.assert_greedy_is_refused(broker, lambda: self.greedy.enqueue("other"), "bytes")

        self.assert_settles(self.modest, self.lease_of(self.modest))
        self.assert_settles(self.greedy, mine)
        deaf.close()
        self.wait_until_served(self.greedy)

    def test_one_that_reads_none_of_its_answers(self):
        broker = self.serve()
        for _ in range(UNREAD):
            self.modest.enqueue(QUEUE, os.urandom(UNREAD_BYTES))
        body = http2.message(
            lease_request(QUEUE, wait=60, max_tasks=3, worker_id="deaf").SerializeToString())
        deaf = self.deaf(broker, "Lease", [body] * UNREAD)
        self.wait_until_refused(lambda: self.greedy.lease("other", wait=0))
        error = self.refusal_of(lambda: self.greedy.lease("other", wait=0))
        self.assertEqual(reason_of(error), "TOO_MANY_CALLS")

        self.assert_settles(self.modest, self.lease_of(self.modest))
        deaf.close()
        self.wait_until(lambda: self.is_served(self.greedy))

    def is_served(self, client):
        try:
            client.lease("other", wait=0)
        except grpc.RpcError:
            return False
        return True


class PrincipalsByHttp(ByHttp, Principals):
    pass


if __name__ == "__main__":
    unittest.main()
