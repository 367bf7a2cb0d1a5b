"""What the HTTP port refuses before a service has it counts in its metrics, by reason."""

import unittest

from support.case import slow
from support.http import JSON, SERVICES
from support.http_case import HttpTest

ENQUEUE = "BrokerService/Enqueue"
PATH = SERVICES + ENQUEUE
METRIC = "skiplane_http_refused_requests_total"
REASONS = ("body", "content_type", "encoding", "method", "no_room", "path", "request", "site",
           "size", "timeout")


class Refused(HttpTest):
    def counts(self):
        return {reason: self.broker.metrics()[f'{METRIC}{{reason="{reason}"}}']
                for reason in REASONS}

    def assert_counts(self, reason, refuse):
        before = self.counts()
        with self.subTest(reason=reason):
            self.assertNotEqual(refuse(self.http_client()).status, 200)
            self.assertEqual(self.counts(), {**before, reason: before[reason] + 1})

    def test_each_reason_is_there_before_its_first_request(self):
        self.assertEqual(self.counts(), dict.fromkeys(REASONS, 0))

    def test_each_refusal_counts_once(self):
        for reason, refuse in (
                ("site", lambda http: http.request("POST", PATH, "{}", Host="evil.example")),
                ("site", lambda http: http.call(ENQUEUE, {}, Origin="https://evil.example")),
                ("path", lambda http: http.call("BrokerService/Steal", {})),
                ("method", lambda http: http.request("PUT", PATH, "{}", Content_Type=JSON)),
                ("method", lambda http: http.request("POST", "/healthz", "{}")),
                ("content_type", lambda http: http.call(ENQUEUE, {}, Content_Type="text/plain")),
                ("encoding", lambda http: http.call(ENQUEUE, {}, Content_Encoding="br")),
                ("request", lambda http: http.call(ENQUEUE, {}, Connect_Timeout_Ms="soon")),
                ("body", lambda http: http.call(ENQUEUE, "{'queue':'mail'}")),
                ("body", lambda http: http.call(ENQUEUE, {"no": 1})),
                ("body", lambda http: http.call(ENQUEUE, b"none", Content_Encoding="gzip")),
                ("size", lambda http: http.call(ENQUEUE, {}, X_Large="x" * 20000))):
            self.assert_counts(reason, refuse)

    def test_what_a_service_refuses_does_not_count(self):
        before = self.counts()
        self.assertEqual(self.http.call("AdminService/GetQueue", {"name": "none"}).status, 404)
        self.assertEqual(self.counts(), before)

    def test_what_is_no_http_counts(self):
        raw = self.raw()
        raw.send(b"\x16\x03\x01\x02\x00\r\n\r\n")
        self.assertEqual(raw.read_answer().status, 400)
        self.assertEqual(self.counts()["request"], 1)

    @slow
    def test_half_a_header_is_told_that_its_time_is_over_and_counts(self):
        raw = self.raw()
        raw.send(f"POST {PATH} HTTP/1.1\r\nHost: loc")
        answer = raw.read_answer()
        self.assertEqual((answer.status, answer.code(), answer.reason()),
                         (408, "deadline_exceeded", "REQUEST_TIMEOUT"))
        self.assertEqual(raw.read_to_end(), b"")
        self.assertEqual(self.counts(), {**dict.fromkeys(REASONS, 0), "timeout": 1})


if __name__ == "__main__":
    unittest.main()
