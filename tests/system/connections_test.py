"""More connections than a broker has descriptors for: it goes on to answer new callers, and says so
when it cannot."""

import math
import resource
import socket
import struct
import time
import unittest

import grpc

from support import http2
from support.broker import NOT_SERVING, SERVING, check, watch
from support.case import SystemTest, slow
from support.http import RawHttp
from support.http_case import ANY_PORT
from support.process import GENEROUS_S

QUEUE = "crowded"
DESCRIPTORS = 256
MANY = 400
CONNECTIONS_MAX = 'skiplane_max_connections{port="grpc"}'
STREAMS_MAX = 3         # of HTTP/2's settings
BESIDE_WAITING = 1000   # calls of one connection
REFUSED = "skiplane_connections_refused_total"


def connect(address):
    """An idle HTTP/2 connection; None if the broker turned it away."""
    host, port = address.rsplit(":", 1)
    connection = socket.socket()
    connection.settimeout(GENEROUS_S)
    try:
        connection.connect((host, int(port)))
        connection.sendall(http2.PREFACE + http2.frame(http2.SETTINGS, 0, 0))
        if connection.recv(1):
            return connection
    except ConnectionError:
        pass
    connection.close()
    return None


@slow
class Connections(SystemTest):
    def fill(self, broker):
        """As many connections of one peer as the broker lets in."""
        connections = [connect(broker.address) for _ in range(MANY)]
        inside = [connection for connection in connections if connection is not None]
        self.addCleanup(lambda: [connection.close() for connection in inside])
        return inside

    def assert_served(self, client):
        client.enqueue(QUEUE, b"x")
        [task] = client.lease(QUEUE)
        self.assertEqual(client.ack(task), ["SETTLED"])

    def test_one_peer_with_more_connections_than_there_are_descriptors(self):
        broker = self.start_broker(descriptors=DESCRIPTORS)
        client = self.client_of(broker)
        client.create_queue(QUEUE)
        self.assertIn("few_descriptors limit=256 ", broker.output)

        inside = self.fill(broker)
        self.assertLess(len(inside), MANY)
        metrics = broker.metrics()
        self.assertEqual(metrics['skiplane_connections{port="grpc"}'],
                         math.ceil(0.8 * metrics[CONNECTIONS_MAX]))
        host, port = broker.address.rsplit(":", 1)
        with socket.create_connection((host, int(port)), GENEROUS_S,
                                      ("127.0.0.2", 0)) as elsewhere:
            elsewhere.sendall(http2.PREFACE + http2.frame(http2.SETTINGS, 0, 0))
            self.assertGreater(len(elsewhere.recv(1)), 0)  # who is turned away reads nothing
        end = time.monotonic() + GENEROUS_S
        while broker.metrics()[REFUSED + '{port="grpc"}'] < MANY - len(inside):
            self.assertLess(time.monotonic(), end, "not all of them are counted")
        broker.wait_for_output(" connections_refused ")

        self.assert_served(client)
        self.assertEqual(check(client.channel, "liveness"), SERVING)
        with self.assertRaises(grpc.RpcError) as refusal:
            self.client_of(broker).queue(QUEUE)
        self.assertEqual(refusal.exception.code(), grpc.StatusCode.UNAVAILABLE)

        for connection in inside:
            connection.close()
        late = self.client_of(broker)
        check(late.channel)  # waits until it is connected
        self.assert_served(late)
        self.assertEqual(broker.metrics()['skiplane_accept_failures_total{port="grpc"}'], 0)

    def test_a_limit_of_connections_of_the_operators_own(self):
        broker = self.start_broker("--max-connections=3")
        inside = self.fill(broker)
        self.assertGreater(len(inside), 0)
        self.assertLessEqual(len(inside), 3)
        self.assertEqual(broker.metrics()[CONNECTIONS_MAX], 3)

    def test_a_connection_has_a_limit_of_calls_at_once(self):
        broker = self.start_broker("--max-waiting-calls=4")
        host, port = broker.address.rsplit(":", 1)
        with socket.create_connection((host, int(port)), GENEROUS_S) as connection:
            connection.sendall(http2.PREFACE + http2.frame(http2.SETTINGS, 0, 0))
            with connection.makefile("rb") as frames:
                [length] = struct.unpack(">I", b"\0" + frames.read(3))
                self.assertEqual(frames.read(6)[0], http2.SETTINGS)
                said = dict(struct.iter_unpack(">HI", frames.read(length)))
        self.assertEqual(said.get(STREAMS_MAX), 4 + BESIDE_WAITING)

    def ask_by_http(self, broker):
        """The connection of a caller that was answered; None if it was turned away."""
        try:
            raw = RawHttp(broker.http_address)
            self.addCleanup(raw.close)
            raw.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            self.assertEqual(raw.read_answer().status, 200)
        except ConnectionError:
            return None
        return raw

    def test_the_same_limit_holds_by_http_apart_from_grpc(self):
        broker = self.start_broker("--max-connections=3", http=ANY_PORT)
        callers = [self.ask_by_http(broker) for _ in range(5)]
        self.assertEqual([caller is not None for caller in callers], [True] * 3 + [False] * 2)
        metrics = broker.metrics()
        self.assertEqual([metrics[f'{REFUSED}{{port="{port}"}}'] for port in ("http", "grpc")],
                         [2, 0])
        self.assertEqual(metrics['skiplane_max_connections{port="http"}'], 3)
        broker.wait_for_output(" connections_refused port=http ")
        client = self.client_of(broker)
        client.create_queue(QUEUE)
        self.assert_served(client)

        callers[0].close()
        end = time.monotonic() + GENEROUS_S
        while broker.metrics()['skiplane_connections{port="http"}'] == 3:
            self.assertLess(time.monotonic(), end, "its place is not free")
        self.assertIsNotNone(self.ask_by_http(broker))

    def test_new_callers_wait_only_as_long_as_descriptors_are_wanting(self):
        broker, client = self.start()
        if broker.is_sanitized():
            self.skipTest("the sanitizer asks a pipe whether memory may be read")
        client.create_queue(QUEUE)
        usual = resource.prlimit(broker.pid, resource.RLIMIT_NOFILE)
        liveness = watch(client.channel, "liveness")
        self.assertEqual(next(liveness), SERVING)

        # Below all that are in use: those of connections to the database may come and go.
        resource.prlimit(broker.pid, resource.RLIMIT_NOFILE, (8, usual[1]))
        self.assertEqual(next(liveness), NOT_SERVING)
        broker.wait_for_output(" port_silent ")
        self.assert_served(client)
        early = grpc.insecure_channel(broker.address, [("grpc.use_local_subchannel_pool", 1)])
        self.addCleanup(early.close)
        waiting = early.unary_unary("/grpc.health.v1.Health/Check").future(
            b"", timeout=GENEROUS_S, wait_for_ready=True)

        resource.prlimit(broker.pid, resource.RLIMIT_NOFILE, usual)
        self.assertEqual(next(liveness), SERVING)
        self.assertEqual(waiting.result(), SERVING)
        self.assert_served(self.client_of(broker))

    def test_the_soft_limit_is_raised(self):
        broker = self.start_broker(descriptors="300:500")
        soft, hard = resource.prlimit(broker.pid, resource.RLIMIT_NOFILE)
        self.assertEqual(soft, hard)
        self.assertEqual(broker.metrics()["process_max_fds"], hard)


if __name__ == "__main__":
    unittest.main()
