"""Streams of messages by HTTP, tested with the one that every broker has: watching its health."""

import json
import struct
import unittest

from support.broker import NOT_SERVING, SERVING, health_request
from support.http import JSON
from support.http_case import HttpTest
from support.http_stream import (COMPRESSED, END, PLAIN, STREAM_JSON, STREAM_PROTO, envelope,
                                 read_envelope)

WATCH = "/grpc.health.v1.Health/Watch"


class Stream(HttpTest):
    def watch(self, body, kind=STREAM_JSON):
        """The answer, whose messages are still to come."""
        self.http.connection.request("POST", WATCH, body, {"Content-Type": kind})
        return self.http.connection.getresponse()

    def error_of(self, response):
        """How a stream ends that has no message."""
        self.assertEqual(response.status, 200)
        flags, message = read_envelope(response)
        self.assertEqual((flags, response.read()), (END, b""))
        return json.loads(message)["error"]

    def test_messages_come_as_they_are_made_in_both_forms(self):
        for kind, body, first, later in (
                (STREAM_JSON, b"{}", b'{"status":"SERVING"}', b'{"status":"NOT_SERVING"}'),
                (STREAM_PROTO, health_request(""), SERVING, NOT_SERVING)):
            with self.subTest(kind=kind):
                broker = self.start_broker(http="127.0.0.1:0")
                self.broker, self.http = broker, None
                self.http = self.http_client()
                response = self.watch(envelope(body), kind)
                self.assertEqual((response.status, response.headers["Content-Type"]), (200, kind))
                self.assertEqual(read_envelope(response), (PLAIN, first))
                self.assertEqual(broker.terminate(), 0)
                self.assertEqual(read_envelope(response), (PLAIN, later))
                flags, end = read_envelope(response)
                self.assertEqual((flags, json.loads(end)["error"]["code"]), (END, "unavailable"))
                self.assertEqual(response.read(), b"")

    def test_who_leaves_ends_the_stream(self):
        """That the inner call ends with it is tested in tests/http/connect."""
        response = self.watch(envelope(b"{}"))
        read_envelope(response)
        self.assertEqual(self.connections(), 1)
        self.http.close()
        self.wait_until(lambda: self.connections() == 0, "the connection is gone")
        self.assertEqual(self.broker.terminate(), 0)

    def connections(self):
        return self.broker.metrics()['skiplane_connections{port="http"}']

    def test_a_request_that_is_none(self):
        for body, code in ((b"", "invalid_argument"), (b"{}", "invalid_argument"),
                           (envelope(b"{}") * 2, "invalid_argument"),
                           (envelope(b"{}", END), "invalid_argument"),
                           (envelope(b"{}")[:-1], "invalid_argument"),
                           (struct.pack(">BI", 0, 0xffffffff) + b"{}", "invalid_argument"),
                           (envelope(b"{]"), "invalid_argument"),
                           (envelope(b'{"servize":""}'), "invalid_argument"),
                           (envelope(b"{}", COMPRESSED), "unimplemented")):
            with self.subTest(body=body):
                self.assertEqual(self.error_of(self.watch(body))["code"], code)

    def test_what_is_no_stream_is_refused_as_a_unary_call(self):
        self.assertEqual(self.watch(b"{}", JSON).status, 415)

    def test_refusals_are_in_the_stream_for_who_reads_one(self):
        for kind in (STREAM_JSON, STREAM_PROTO):
            for name, value, code, reason in (
                    ("Connect-Content-Encoding", "gzip", "unimplemented", "NOT_SUPPORTED"),
                    ("Connect-Protocol-Version", "2", "invalid_argument", "INVALID_FIELD"),
                    ("Connect-Timeout-Ms", "soon", "invalid_argument", "INVALID_FIELD"),
                    ("Content-Length", str(9 << 20), "invalid_argument", "REQUEST_TOO_LARGE")):
                with self.subTest(kind=kind, name=name):
                    raw = self.raw()
                    raw.send("\r\n".join([f"POST {WATCH} HTTP/1.1", "Host: localhost",
                                          f"Content-Type: {kind}", f"{name}: {value}", "", ""]))
                    answer = raw.read_answer()
                    self.assertEqual((answer.status, answer.headers["Content-Type"]), (200, kind))
                    flags, size = struct.unpack(">BI", answer.body[:5])
                    self.assertEqual((flags, size), (END, len(answer.body) - 5))
                    error = json.loads(answer.body[5:])["error"]
                    info = error["details"][0]["debug"]
                    self.assertEqual((error["code"], info["reason"], info["domain"]),
                                     (code, reason, "skiplane.dev"))


if __name__ == "__main__":
    unittest.main()
