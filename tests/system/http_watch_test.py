"""Watching queues by HTTP, as browsers do."""

import json
import unittest

from support.http import RawHttp
from support.http_case import HttpTest
from support.http_stream import (END, PLAIN, STREAM_JSON, STREAM_PROTO, envelope, error_in,
                                 read_envelope)
from support.client import admin_pb2

WATCH = "/skiplane.v1.AdminService/Watch"


class Watching(HttpTest):
    def setUp(self):
        super().setUp()
        self.client.create_queue("a")
        self.client.create_queue("b")

    def watch(self, request=b"{}", kind=STREAM_JSON, http=None, **fields):
        """The answer, whose messages are still to come."""
        connection = (http or self.http).connection
        connection.request("POST", WATCH, envelope(request), {"Content-Type": kind, **fields})
        return connection.getresponse()

    def read(self, response):
        """The next message."""
        flags, message = read_envelope(response)
        self.assertEqual(flags, PLAIN, message)
        return json.loads(message)

    def names(self, message):
        return [summary["queue"] for summary in message.get("summaries", ())]

    def read_until(self, response, is_so):
        while not any(is_so(summary) for summary in self.read(response).get("summaries", ())):
            pass

    def test_queues_are_told_as_they_change(self):
        response = self.watch()
        self.assertEqual((response.status, response.headers["Content-Type"]), (200, STREAM_JSON))
        self.assertEqual(self.names(self.read(response)), ["a", "b"])
        self.client.enqueue("b")
        self.assertEqual(self.names(self.read(response)), ["b"])

    def test_protobuf_is_told_as_protobuf(self):
        request = admin_pb2.WatchRequest(queues=["b"]).SerializeToString()
        response = self.watch(request, STREAM_PROTO)
        flags, message = read_envelope(response)
        self.assertEqual(flags, PLAIN)
        [summary] = admin_pb2.WatchResponse.FromString(message).summaries
        self.assertEqual(summary.queue, "b")

    def test_a_queue_that_is_not_there_ends_it(self):
        response = self.watch(b'{"queues":["never"]}')
        flags, end = read_envelope(response)
        self.assertEqual((flags, *error_in(end)), (END, "not_found", "QUEUE_NOT_FOUND"))

    def test_a_broker_that_shuts_down_ends_it_in_order(self):
        response = self.watch()
        self.read(response)
        self.assertEqual(self.broker.terminate(), 0)
        flags, end = read_envelope(response)
        self.assertEqual((flags, json.loads(end), response.read()), (END, {}, b""))

    def test_who_leaves_watches_no_more(self):
        response = self.watch()
        self.read(response)
        self.assertEqual(self.streams(), 1)
        self.http.close()
        self.wait_until(lambda: self.streams() == 0, "nobody watches")

    def streams(self):
        return self.broker.metrics().get('skiplane_streams{kind="watch"}', 0)

    def test_one_that_reads_nothing_holds_up_no_other(self):
        slow = RawHttp(self.broker.http_address, is_narrow=True)
        self.addCleanup(slow.close)
        body = envelope(b"{}")
        slow.send("\r\n".join([f"POST {WATCH} HTTP/1.1", "Host: localhost",
                               f"Content-Type: {STREAM_JSON}",
                               f"Content-Length: {len(body)}", "", ""]), body.decode("latin-1"))
        response = self.watch()
        self.assertEqual(self.names(self.read(response)), ["a", "b"])
        for count in range(1, 4):
            self.client.enqueue("a")
            self.read_until(response, lambda summary, count=count: summary["counts"].get(
                "readyCount") == str(count))


class Limited(HttpTest):
    flags = ("--max-waiting-calls=2", "--address-share=100")

    def test_it_counts_as_a_call_that_waits(self):
        for _ in range(2):
            http = self.http_client()
            http.connection.request("POST", WATCH, envelope(b"{}"), {"Content-Type": STREAM_JSON})
            self.assertEqual(read_envelope(http.connection.getresponse())[0], PLAIN)
        self.http.connection.request("POST", WATCH, envelope(b"{}"), {"Content-Type": STREAM_JSON})
        flags, end = read_envelope(self.http.connection.getresponse())
        self.assertEqual((flags, *error_in(end)),
                         (END, "resource_exhausted", "TOO_MANY_WAITING_CALLS"))


if __name__ == "__main__":
    unittest.main()
