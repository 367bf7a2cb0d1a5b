"""Requests that are none, at the level of bytes: each gets its status, writes nothing, leaves no
memory behind, and the next good call works."""

import gzip
import unittest

import grpc
from google.protobuf import wrappers_pb2
from google.protobuf.internal import encoder

from support import http2
from support.case import SystemTest, slow
from support.client import DEADLINE_S, OPTIONS, broker_pb2, reason_of, retry_delay_of

QUEUE = "wire"
ENQUEUE = "/skiplane.v1.BrokerService/Enqueue"
ADMIN = "/skiplane.v1.AdminService/GetQueue"
MIB = 1 << 20
REPEATS = 200
# What a leak of 10 kB per call would exceed; pages of the allocator come and go by a few.
SLACK = 2 * MIB
VARINT, BYTES = 0, 2  # wire types
OK, INVALID_ARGUMENT, DEADLINE_EXCEEDED, UNIMPLEMENTED = 0, 3, 4, 12


def field(message, name, wire_type):
    """What stands before a value on the wire."""
    return encoder.TagBytes(message.DESCRIPTOR.fields_by_name[name].number, wire_type)


@slow
class BadWire(SystemTest):
    def setUp(self):
        super().setUp()
        self.broker, self.client = self.start()
        self.client.create_queue(QUEUE)
        self.before = self.database.picture()

    def raw(self, bytes_, method=ENQUEUE, **fields):
        self.client.channel.unary_unary(method)(bytes_, timeout=DEADLINE_S, **fields)

    def raw_alone(self, bytes_, **fields):
        """On a connection of its own: gRPC may close it after what it refuses."""
        with grpc.insecure_channel(self.broker.address, OPTIONS) as channel:
            channel.unary_unary(ENQUEUE)(bytes_, timeout=DEADLINE_S, **fields)

    def assert_harmless(self, code, reason, call, repeats=REPEATS, slack=SLACK):
        """`call` is refused each time, and nothing remains of it."""
        for _ in range(repeats):
            self.assert_refused(code, reason, call)
        size = self.broker.rss()
        for _ in range(repeats):
            self.assert_refused(code, reason, call)
        if not self.broker.is_sanitized():
            self.assertLess(self.broker.rss() - size, slack)
        self.assert_works()

    def assert_works(self):
        self.assertEqual(self.database.picture(), self.before)
        self.client.enqueue(QUEUE, b"good")
        [task] = self.client.lease(QUEUE)
        self.assertEqual(self.client.ack(task), ["SETTLED"])
        self.before = self.database.picture()

    def test_bytes_that_are_no_message(self):
        wrong = {"a string that is no UTF-8": b"\x0a\x02\xff\xfe", "a cut field": b"\x0a\x05ab",
                 "64 bytes of ff": b"\xff" * 64, "151 nested groups": b"\x0b" * 151 + b"\x0c" * 151}
        for name, bytes_ in wrong.items():
            for method in (ENQUEUE, ADMIN):
                with self.subTest(name, method=method):
                    self.assert_harmless("INVALID_ARGUMENT", "INVALID_FIELD",
                                         lambda b=bytes_, m=method: self.raw(b, m), repeats=50)

    def test_two_million_empty_headers(self):
        entries = field(broker_pb2.NewTask, "headers", BYTES) + b"\0"
        task = entries * (4_000_000 // len(entries))
        bytes_ = (broker_pb2.EnqueueRequest(queue=QUEUE).SerializeToString()
                  + field(broker_pb2.EnqueueRequest, "tasks", BYTES)
                  + wrappers_pb2.BytesValue(value=task).SerializeToString()[1:])
        self.assert_harmless("INVALID_ARGUMENT", "INVALID_FIELD", lambda: self.raw(bytes_),
                             repeats=5, slack=64 * MIB)

    def test_a_field_of_the_wrong_wire_type_counts_as_missing(self):
        bytes_ = field(broker_pb2.EnqueueRequest, "queue", VARINT) + b"\1"
        bytes_ += broker_pb2.EnqueueRequest(tasks=[broker_pb2.NewTask()]).SerializeToString()
        self.assert_harmless("INVALID_ARGUMENT", "INVALID_FIELD", lambda: self.raw(bytes_))

    def test_a_field_of_a_later_version_is_passed_over(self):
        good = broker_pb2.EnqueueRequest(queue=QUEUE, tasks=[broker_pb2.NewTask()])
        self.raw(good.SerializeToString() + encoder.TagBytes(9999, VARINT) + b"\1")
        self.assertEqual(self.database.number("SELECT count(*) FROM skiplane.task"), 1)

    def test_a_call_without_a_message(self):
        call = self.client.channel.stream_unary(ENQUEUE)
        self.assert_harmless("UNIMPLEMENTED", "NOT_SUPPORTED",
                             lambda: call(iter([]), timeout=DEADLINE_S))

    def test_a_request_above_four_mebibytes(self):
        for method in (ENQUEUE, ADMIN):
            with self.subTest(method):
                self.assert_harmless("INVALID_ARGUMENT", "REQUEST_TOO_LARGE",
                                     lambda m=method: self.raw(b"\x0a" + b"x" * (4 * MIB), m),
                                     repeats=40, slack=16 * MIB)

    def test_a_request_far_above_four_mebibytes_says_how_large_it_is(self):
        error = self.assert_refused("INVALID_ARGUMENT", "REQUEST_TOO_LARGE",
                                    lambda: self.raw_alone(bytes(64 * MIB)))
        self.assertIn(str(64 * MIB), error.details())
        self.assertEqual(retry_delay_of(error), 0)
        self.assert_works()

    def test_a_length_that_is_not_kept_takes_no_memory(self):
        size = self.broker.peak_rss()
        body = b"\x00\xff\xff\xff\xf0" + b"x" * 1000  # nearly 4 GiB are to come
        calls = [http2.open_call(self.broker.address, ENQUEUE, body) for _ in range(20)]
        self.assert_works()
        for connection in calls:
            connection.close()
        if not self.broker.is_sanitized():
            self.assertLess(self.broker.peak_rss() - size, 16 * MIB)

    def test_compressed_requests_are_not_unpacked(self):
        packed = gzip.compress(bytes(200 * MIB), compresslevel=1)
        self.assertEqual(http2.call(self.broker.address, ENQUEUE, http2.message(b"12345678", True),
                                    grpc_encoding="gzip"), UNIMPLEMENTED)
        size = self.broker.rss()
        body = http2.message(packed[:16000], True)
        for _ in range(10):
            self.assertEqual(http2.call(self.broker.address, ENQUEUE, body, grpc_encoding="gzip"),
                             UNIMPLEMENTED)
        if not self.broker.is_sanitized():
            self.assertLess(self.broker.rss() - size, SLACK)
        with grpc.insecure_channel(self.broker.address, OPTIONS) as channel:
            with self.assertRaises(grpc.RpcError) as refusal:
                channel.unary_unary(ENQUEUE)(bytes(3 * MIB), timeout=DEADLINE_S,
                                             compression=grpc.Compression.Gzip)
        self.assertEqual(refusal.exception.code(), grpc.StatusCode.UNIMPLEMENTED)
        self.assert_works()

    def test_an_unknown_encoding(self):
        # gRPC drops a name that it does not know and hands us the bytes as they are.
        self.assertEqual(http2.call(self.broker.address, ENQUEUE, http2.message(b"1234", True),
                                    grpc_encoding="br"), INVALID_ARGUMENT)
        self.assert_works()

    def test_unknown_methods_and_services(self):
        for method in ("/skiplane.v1.BrokerService/Steal", "/skiplane.v1.Nobody/Enqueue"):
            with self.subTest(method):
                self.assert_harmless("UNIMPLEMENTED", "", lambda m=method: self.raw(b"", m))

    def test_large_metadata(self):
        for size in (9 << 10, 20 << 10):
            with self.subTest(size):
                metadata = (("x-large", "x" * size),)
                self.assert_harmless("RESOURCE_EXHAUSTED", "",
                                     lambda m=metadata: self.raw_alone(b"", metadata=m),
                                     repeats=50)

    def test_a_deadline_that_has_passed_or_is_about_to(self):
        request = broker_pb2.EnqueueRequest(queue=QUEUE, tasks=[broker_pb2.NewTask(key="once")])
        outcomes = set()
        for timeout in [0, 0.001] * 20:
            try:
                self.client.broker.Enqueue(request, timeout=timeout)
                outcomes.add("OK")
            except grpc.RpcError as error:
                self.assertEqual(reason_of(error), "")
                outcomes.add(error.code().name)
        self.assertIn("DEADLINE_EXCEEDED", outcomes)
        self.assertLessEqual(outcomes, {"DEADLINE_EXCEEDED", "OK"})
        self.client.enqueue_all(QUEUE, request.tasks)
        self.assertEqual(self.database.number("SELECT count(*) FROM skiplane.task"), 1)

    def test_odd_timeouts_do_not_outlive_the_brokers_own_limits(self):
        good = broker_pb2.EnqueueRequest(queue=QUEUE, tasks=[broker_pb2.NewTask()])
        for timeout in ("abc", "99999999H"):
            with self.subTest(timeout):
                self.assertEqual(http2.call(self.broker.address, ENQUEUE,
                                            http2.message(good.SerializeToString()),
                                            grpc_timeout=timeout), OK)
        self.assertEqual(self.database.number("SELECT count(*) FROM skiplane.task"), 2)
        outcomes = {http2.call(self.broker.address, ENQUEUE,
                               http2.message(good.SerializeToString()), grpc_timeout="1n")
                    for _ in range(20)}
        self.assertIn(DEADLINE_EXCEEDED, outcomes)
        self.assertLessEqual(outcomes, {DEADLINE_EXCEEDED, OK})  # an answer may be quicker


if __name__ == "__main__":
    unittest.main()
