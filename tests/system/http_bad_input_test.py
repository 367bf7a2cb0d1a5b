"""What is no good request of HTTP is told why, and nothing is half done."""

import gzip
import json
import unittest

from support.case import slow
from support.client import broker_pb2
from support.http import JSON, PROTO, SERVICES, post
from support.http_case import HttpTest

QUEUE = "mail"
ENQUEUE = "BrokerService/Enqueue"
TASK = {"queue": QUEUE, "tasks": [{"payload": "aGk="}]}
BODY_MAX = 8 << 20
BODIES_MAX = 128 << 20
NO_ROOM = 'skiplane_http_refused_requests_total{reason="no_room"}'


@slow
class BadInput(HttpTest):
    flags = ("--address-share=100",)  # all bodies come from one

    def setUp(self):
        super().setUp()
        self.client.create_queue(QUEUE)

    def tearDown(self):
        # Whatever was refused has left nothing, and others are answered as before.
        self.assertEqual(self.database.number("SELECT count(*) FROM skiplane.task"), 0)
        self.assertEqual(self.http_client().call(ENQUEUE, TASK).status, 200)
        super().tearDown()

    def assert_error(self, answer, status, code, reason="", says=""):
        self.assertEqual((answer.status, answer.code(), answer.reason()), (status, code, reason),
                         answer.body)
        self.assertEqual(answer.headers["Content-Type"], JSON)
        self.assertEqual(answer.headers.get("trailer-skiplane-reason", ""), reason)
        self.assertIn(says, answer.json()["message"])

    def test_json_that_is_none(self):
        for body in ("", "{", "[]", "null", "7", '"queue"', "{'queue':'mail'}", '{"queue":}',
                     '{"queue":"mail"} x', "\xff", "{" * 200):
            with self.subTest(body=body):
                answer = self.http.request("POST", SERVICES + ENQUEUE, body.encode("latin-1"),
                                           Content_Type=JSON)
                self.assert_error(answer, 400, "invalid_argument", "INVALID_FIELD")

    def test_json_of_something_else(self):
        for fields, says in (({"queu": QUEUE}, "queu"),
                             ({"queue": QUEUE, "tasks": [{"payload": "aGk=", "colour": 1}]},
                              "colour"),
                             ({"queue": QUEUE, "tasks": [{"priority": "high"}]}, "priority"),
                             ({"queue": QUEUE, "tasks": [{"priority": 1e99}]}, "priority"),
                             ({"queue": QUEUE, "tasks": 7}, "tasks"),
                             ({"queue": [QUEUE]}, "queue"),
                             ({"queue": QUEUE, "tasks": [{"payload": "a~b"}]}, "payload")):
            with self.subTest(fields=fields):
                self.assert_error(self.http.call(ENQUEUE, fields), 400, "invalid_argument",
                                  "INVALID_FIELD", says)

    def test_json_that_only_loose_parsers_take(self):
        for body in ('{"queue":"mail","tasks":[{"payload":"aGk="},]}', '{queue:"mail"}',
                     '{"queue":"mail"} // the end', '{"queue":"mail","queue":"letters"}',
                     '{"queue":"mail","tasks":{"payload":"aGk="}}'):
            with self.subTest(body=body):
                self.assert_error(self.http.call(ENQUEUE, body), 400, "invalid_argument",
                                  "INVALID_FIELD")

    def test_a_null_among_tasks_does_not_shift_the_results(self):
        task = {"payload": "aGk="}
        answer = self.http.call(ENQUEUE, {"queue": QUEUE, "tasks": [task, None, task]})
        self.assert_error(answer, 400, "invalid_argument", "INVALID_FIELD", "tasks[1]")
        self.assertEqual(answer.headers["trailer-skiplane-field"], "tasks[1]")

    def test_a_null_in_headers_does_not_drop_one(self):
        answer = self.http.call(ENQUEUE, {"queue": QUEUE, "tasks": [{"headers": {"a": None}}]})
        self.assert_error(answer, 400, "invalid_argument", "INVALID_FIELD", "tasks[0].headers")

    def test_a_value_that_is_refused_is_not_echoed(self):
        for task, field in (({"payload": "s3cret~"}, "payload"), ({"delay": "s3cret"}, "delay"),
                            ({"priority": "s3cret"}, "priority"), ("s3cret", "tasks[0]")):
            with self.subTest(field=field):
                answer = self.http.call(ENQUEUE, {"queue": QUEUE, "tasks": [task]})
                self.assert_error(answer, 400, "invalid_argument", "INVALID_FIELD", field)
                self.assertNotIn(b"s3cret", answer.body)
        answer = self.http.call(ENQUEUE, '{"queue":"mail","tasks":[{"payload":"s3cret"}')
        self.assertNotIn(b"s3cret", answer.body)

    def test_protobuf_that_is_none(self):
        answer = self.http.call(ENQUEUE, b"\xff\xff\xff", Content_Type=PROTO)
        self.assert_error(answer, 400, "invalid_argument", "INVALID_FIELD")

    def test_other_content_types(self):
        for kind in (None, "", "text/plain", "application/x-www-form-urlencoded",
                     "application/jsonp", "application/json; charset=latin-1",
                     "application/connect+json", "application/grpc", "application/grpc-web+proto"):
            with self.subTest(kind=kind):
                headers = {} if kind is None else {"Content_Type": kind}
                answer = self.http_client().request("POST", SERVICES + ENQUEUE, json.dumps(TASK),
                                                    **headers)
                self.assert_error(answer, 415, "unimplemented", "NOT_SUPPORTED")
                self.assertEqual(answer.headers["Accept-Post"], f"{JSON}, {PROTO}")

    def test_a_content_type_with_its_parameter(self):
        answer = self.http.call("BrokerService/Lease", {"queues": [{"name": QUEUE}], "maxTasks": 1},
                                Content_Type="Application/JSON; Charset=UTF-8")
        self.assertEqual(answer.status, 200, answer.body)

    def test_other_methods_and_paths(self):
        for method in ("GET", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "HEAD"):
            with self.subTest(method=method):
                answer = self.http_client().request(method, SERVICES + ENQUEUE)
                self.assertEqual((answer.status, answer.headers["Allow"]), (405, "POST"))
        for path in ("/", "/skiplane.v1.BrokerService/", "/skiplane.v1.BrokerService/Steal",
                     "/skiplane.v1.OtherService/Enqueue", "/skiplane.v1.BrokerService/Enqueue/",
                     "//skiplane.v1.BrokerService/Enqueue", "/healthz/", "/../etc/passwd",
                     "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
                     "/google.protobuf.Any/x"):
            with self.subTest(path=path):
                answer = self.http_client().request("POST", path, "{}", Content_Type=JSON)
                self.assert_error(answer, 404, "unimplemented", "NOT_SUPPORTED")
        for path in ("/healthz", "/readyz", "/metrics"):
            answer = self.http_client().request("POST", path, "{}", Content_Type=JSON)
            self.assert_error(answer, 405, "unimplemented", "NOT_SUPPORTED")
            self.assertEqual(answer.headers["Allow"], "GET, HEAD")

    def test_fields_of_connect(self):
        for name, value in (("Connect-Protocol-Version", "2"), ("Connect-Timeout-Ms", "soon"),
                            ("Connect-Timeout-Ms", "-1"), ("Connect-Timeout-Ms", "0"),
                            ("Connect-Timeout-Ms", "12345678901")):
            with self.subTest(name=name, value=value):
                answer = self.http_client().call(ENQUEUE, TASK, **{name: value})
                self.assert_error(answer, 400, "invalid_argument", "INVALID_FIELD")
        answer = self.http_client().call(ENQUEUE, TASK, Content_Encoding="br")
        self.assert_error(answer, 501, "unimplemented", "NOT_SUPPORTED")
        self.assertEqual(answer.headers["Accept-Encoding"], "gzip, identity")

    def test_fields_that_stand_twice(self):
        for field, status, code, reason in (
                ("Content-Encoding: gzip", 501, "unimplemented", "NOT_SUPPORTED"),
                ("Content-Type: application/json", 415, "unimplemented", "NOT_SUPPORTED"),
                ("Connect-Timeout-Ms: 1000", 400, "invalid_argument", "INVALID_FIELD"),
                ("Connect-Protocol-Version: 1", 400, "invalid_argument", "INVALID_FIELD")):
            with self.subTest(field=field):
                raw = self.raw()
                raw.send(post(ENQUEUE, TASK, field, field))
                self.assert_error(raw.read_answer(), status, code, reason)
        answer = self.http_client().call(ENQUEUE, TASK, Content_Encoding="gzip, gzip")
        self.assert_error(answer, 501, "unimplemented", "NOT_SUPPORTED")

    def test_compressed_bodies_that_are_none(self):
        whole = gzip.compress(json.dumps(TASK).encode())
        for body in (json.dumps(TASK).encode(), whole[:-1], whole + b"x"):
            with self.subTest(body=body):
                answer = self.http.call(ENQUEUE, body, Content_Encoding="gzip")
                self.assert_error(answer, 400, "invalid_argument", "INVALID_FIELD", "gzip")

    def test_compressed_bodies_above_the_limit_when_they_are_unpacked(self):
        bomb = gzip.compress(b" " * (BODY_MAX + 1))
        self.assertLess(len(bomb), 1 << 16)
        answer = self.http.call(ENQUEUE, bomb, Content_Encoding="gzip")
        self.assert_error(answer, 413, "invalid_argument", "REQUEST_TOO_LARGE")

    def test_compressed_bodies_above_the_limit_of_all_when_they_are_unpacked(self):
        for _ in range(BODIES_MAX // BODY_MAX):
            self.raw().send(f"POST {SERVICES}{ENQUEUE} HTTP/1.1\r\nHost: localhost\r\n"
                            f"Content-Type: {JSON}\r\nContent-Length: {BODY_MAX}\r\n\r\n",
                            b" " * (BODY_MAX - 1))
        held = BODIES_MAX // BODY_MAX * (BODY_MAX - 1)
        self.wait_until(lambda: self.broker.metrics()["skiplane_http_body_bytes"] == held,
                        "of each body all but the last byte has come")
        packed = gzip.compress(json.dumps(TASK).encode().ljust(1 << 15))
        self.assertLess(len(packed), 1 << 14)  # so small a body has room
        answer = self.http.call(ENQUEUE, packed, Content_Encoding="gzip")
        self.assert_error(answer, 429, "resource_exhausted", "TOO_MANY_CALLS", "repeat")
        self.assertEqual(self.broker.metrics()[NO_ROOM], 1)

    def test_fields_that_would_be_no_metadata(self):
        raw = self.raw()
        raw.send(post("AdminService/ListQueues", {}, "Skiplane-Actor: a\xffb",
                      "Authorization: \xff", "Skiplane-X-Bin: ?", "Skiplane-~: x"))
        self.assertEqual(raw.read_answer().status, 200)

    def test_bodies_above_the_limit(self):
        raw = self.raw()
        raw.send(f"POST {SERVICES}{ENQUEUE} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {JSON}\r\n"
                 f"Content-Length: {BODY_MAX + 1}\r\n\r\n")
        answer = raw.read_answer()
        self.assert_error(answer, 413, "invalid_argument", "REQUEST_TOO_LARGE")
        self.assertEqual(answer.headers["Connection"], "close")

    def test_bodies_of_chunks_above_the_limit(self):
        raw = self.raw()
        raw.send(f"POST {SERVICES}{ENQUEUE} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {JSON}\r\n"
                 "Transfer-Encoding: chunked\r\n\r\n")
        try:
            for _ in range(9):
                raw.send(f"{1 << 20:x}\r\n", b" " * (1 << 20), "\r\n")
        except (BrokenPipeError, ConnectionResetError):
            pass
        self.assert_error(raw.read_answer(), 413, "invalid_argument", "REQUEST_TOO_LARGE")

    def test_requests_above_the_limit_of_the_services(self):
        request = broker_pb2.EnqueueRequest(queue=QUEUE, tasks=[
            broker_pb2.NewTask(payload=b"x" * (1 << 20))] * 5)
        answer = self.http.call(ENQUEUE, request)
        self.assert_error(answer, 400, "invalid_argument", "REQUEST_TOO_LARGE")

    def test_headers_above_the_limit(self):
        answer = self.http.call(ENQUEUE, TASK, X_Large="x" * 20000)
        self.assert_error(answer, 431, "invalid_argument", "REQUEST_TOO_LARGE")

    def test_what_is_no_http(self):
        for garbage in (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 64,
                        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n",
                        b"GET / HTTP/1.1\nHost: localhost\n\n\r\n\r\n", b"\x00" * 64 + b"\r\n\r\n",
                        b"POST " + b"x" * 100 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n"):
            with self.subTest(garbage=garbage):
                raw = self.raw()
                raw.send(garbage)
                self.assertIn(raw.read_answer().status, (400, 404))
                self.assertEqual(raw.read_to_end(), b"")

    def test_requests_that_two_readers_would_take_for_different_ones(self):
        for fields in (("Content-Length: 2", "Transfer-Encoding: chunked"),
                       ("Content-Length: 2", "Content-Length: 7"),
                       ("Content-Length: +2",), ("Content-Length: 2 2",),
                       ("Transfer-Encoding: chunked", "Transfer-Encoding: identity"),
                       ("Transfer-Encoding: xchunked",)):
            with self.subTest(fields=fields):
                raw = self.raw()
                lines = [f"POST {SERVICES}{ENQUEUE} HTTP/1.1", "Host: localhost",
                         f"Content-Type: {JSON}", *fields, "", "{}"]
                raw.send("\r\n".join(lines))
                answer = raw.read_answer()
                self.assertEqual((answer.status, answer.headers["Connection"]), (400, "close"))

    def test_garbage_behind_a_request(self):
        raw = self.raw()
        raw.send(post("AdminService/ListQueues", {}), b"garbage\r\n\r\n")
        self.assertEqual(raw.read_answer().status, 200)
        self.assertEqual(raw.read_answer().status, 400)
        self.assertEqual(raw.read_to_end(), b"")


class Pipelined(HttpTest):
    def test_requests_sent_ahead_are_answered_in_their_order(self):
        raw = self.raw()
        names = [f"q{number}" for number in range(20)]
        raw.send(*(post("AdminService/CreateQueue", {"name": name}) for name in names))
        made = [raw.read_answer().json()["queue"]["name"] for _ in names]
        self.assertEqual(made, names)

    def test_a_body_that_comes_byte_by_byte(self):
        raw = self.raw()
        for byte in post("AdminService/CreateQueue", {"name": "slow"}):
            raw.send(bytes([byte]))
        self.assertEqual(raw.read_answer().json()["queue"]["name"], "slow")

    def test_a_caller_that_waits_before_it_sends_the_body(self):
        raw = self.raw()
        head, body = post("AdminService/CreateQueue", {"name": "asked"},
                          "Expect: 100-continue").split(b"\r\n\r\n")
        raw.send(head, b"\r\n\r\n")
        self.assertEqual(raw.read(25), b"HTTP/1.1 100 Continue\r\n\r\n")
        raw.send(body)
        self.assertEqual(raw.read_answer().status, 200)

    def test_http_1_0_closes_after_its_answer(self):
        raw = self.raw()
        raw.send("GET /healthz HTTP/1.0\r\nHost: localhost\r\n\r\n")
        answer = raw.read_answer()
        self.assertEqual((answer.status, answer.body), (200, b"alive\n"))
        self.assertEqual(raw.read_to_end(), b"")


if __name__ == "__main__":
    unittest.main()
