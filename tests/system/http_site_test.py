"""Which pages of a browser may call the HTTP port: none but those that are listed."""

import json
import select
import unittest

from support.http import JSON, SERVICES, RawHttp
from support.http_case import HttpTest
from support.process import GENEROUS_S

LISTED = "https://tools.example:8443"
LIST = SERVICES + "AdminService/ListQueues"
DEAF = 200
PAGES = 50  # for each of these, which their kernel has no room for


class Site(HttpTest):
    flags = ("--http-host=broker.internal",
             f"--http-origin={LISTED},https://default.example:443")

    def setUp(self):
        super().setUp()
        self.port = self.broker.http_address.rsplit(":", 1)[1]

    def status_of(self, *fields, path="/healthz"):
        raw = self.raw()
        raw.send("\r\n".join([f"GET {path} HTTP/1.1", *fields, "", ""]))
        return raw.read_answer().status

    def test_names_that_the_server_goes_by(self):
        for host in ("localhost", f"localhost:{self.port}", "LOCALHOST:1", "127.0.0.1",
                     "[::1]:7080", "10.1.2.3:80", "broker.internal", "Broker.Internal:7080"):
            self.assertEqual(self.status_of(f"Host: {host}"), 200, host)
        # Whoever owns the name lets it point here, and its pages would read what they ask for.
        for host in ("evil.example", f"evil.example:{self.port}", "localhost.evil.example",
                     "127.0.0.1.evil.example", "xbroker.internal", "[::1", "", "127.0.0.1@evil"):
            self.assertIn(self.status_of(f"Host: {host}"), (400, 403), host)
        for host in ("localhost:abc", "localhost:70800", "[::1]x"):
            self.assertEqual(self.status_of(f"Host: {host}"), 400, host)
        self.assertEqual(self.status_of(), 400)
        self.assertEqual(self.status_of("Host: localhost", "Host: evil.example"), 400)

    def test_pages_that_may_call(self):
        host = f"Host: localhost:{self.port}"
        for origin in (f"http://localhost:{self.port}", LISTED, LISTED.upper(),
                       "https://default.example"):
            self.assertEqual(self.status_of(host, f"Origin: {origin}"), 200, origin)
        for origin in ("https://evil.example", "null", "http://localhost", "localhost", "file://",
                       f"http://localhost:{self.port}.evil.example", LISTED + "0"):
            self.assertEqual(self.status_of(host, f"Origin: {origin}"), 403, origin)
        self.assertEqual(self.status_of(host, f"Origin: {LISTED}", "Origin: null"), 403)

    def test_a_page_that_may_not_call_changes_nothing(self):
        answer = self.http.call("AdminService/CreateQueue", {"name": "q"},
                                Origin="https://evil.example")
        self.assertEqual((answer.status, answer.code(), answer.reason()),
                         (403, "permission_denied", "ORIGIN_NOT_ALLOWED"))
        self.assertEqual(self.database.number("SELECT count(*) FROM skiplane.queue"), 0)

    def test_a_listed_page_reads_answers_and_errors(self):
        for body in ({}, {"nonsense": 1}):
            answer = self.http.request("POST", LIST, json.dumps(body), Content_Type=JSON,
                                       Origin=LISTED)
            self.assertEqual(answer.headers["Access-Control-Allow-Origin"], LISTED)
            self.assertEqual(answer.headers["Vary"], "Origin")
        answer = self.http.call("AdminService/ListQueues", {})
        self.assertIsNone(answer.headers["Access-Control-Allow-Origin"])

    def test_a_listed_page_reads_what_the_port_refuses_by_itself(self):
        raw = self.raw()
        raw.send("\r\n".join([f"POST {LIST} HTTP/1.1", "Host: localhost", f"Origin: {LISTED}",
                              f"Content-Type: {JSON}", f"Content-Length: {9 << 20}", "", ""]))
        answer = raw.read_answer()
        self.assertEqual((answer.status, answer.headers["Access-Control-Allow-Origin"]),
                         (413, LISTED))

    def test_what_a_browser_asks_first(self):
        asked = {"Access_Control_Request_Method": "POST",
                 "Access_Control_Request_Headers": "content-type, skiplane-tenant"}
        answer = self.http.request("OPTIONS", LIST, Origin=LISTED, **asked)
        self.assertEqual((answer.status, answer.headers["Access-Control-Allow-Origin"]),
                         (204, LISTED))
        for name in ("Content-Type", "skiplane-tenant"):
            self.assertIn(name, answer.headers["Access-Control-Allow-Headers"])
        self.assertIn("POST", answer.headers["Access-Control-Allow-Methods"])
        answer = self.http.request("OPTIONS", LIST, Origin="https://evil.example", **asked)
        self.assertEqual(answer.status, 403)
        self.assertIsNone(answer.headers["Access-Control-Allow-Origin"])


class Pages(HttpTest):
    def test_pages_say_whether_the_broker_lives_and_is_ready(self):
        for path, body in (("/healthz", b"alive\n"), ("/readyz", b"ready\n")):
            answer = self.http.request("GET", path)
            self.assertEqual((answer.status, answer.body), (200, body))
            answer = self.http.request("HEAD", path)
            self.assertEqual((answer.status, answer.body), (200, b""))

    def test_metrics_are_those_of_the_metrics_page(self):
        answer = self.http.request("GET", "/metrics?x=y")
        self.assertEqual(answer.headers["Content-Type"],
                         "text/plain; version=0.0.4; charset=utf-8")
        self.assertIn(b"\nskiplane_ready 1\n", answer.body)
        self.assertIn(b'\nskiplane_connections{port="http"} ', answer.body)
        answer = self.http.request("HEAD", "/metrics")
        self.assertEqual((answer.status, answer.body, answer.headers["Content-Length"]),
                         (200, b"", None))

    def ask_and_not_read(self):
        """A connection to which its pages come."""
        raw = RawHttp(self.broker.http_address, is_narrow=True)
        self.addCleanup(raw.close)
        raw.send("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n" * PAGES)
        return raw

    def test_others_are_answered_while_many_do_not_read_their_pages(self):
        deaf = [self.ask_and_not_read() for _ in range(DEAF)]
        for raw in deaf:
            self.assertTrue(select.select([raw.socket], [], [], GENEROUS_S)[0])
        self.assertEqual(self.http.request("GET", "/healthz").body, b"alive\n")
        page = self.http.request("GET", "/metrics").body
        self.assertIn(b"\nskiplane_ready 1\n", page)
        self.client.create_queue("served")
        # Their pages are not made before they take those that were.
        self.assertLess(self.broker.metrics()["skiplane_scrapes_total"], DEAF * PAGES)
        for raw in (deaf[0], deaf[-1]):
            self.assertEqual(raw.read_answer().status, 200)

    def test_a_broker_without_its_database_lives_and_is_not_ready(self):
        self.database.refuse_writes()
        self.wait_until(lambda: self.http.request("GET", "/readyz").status == 503, "not ready")
        self.assertEqual(self.http.request("GET", "/healthz").status, 200)
        self.database.take_writes()
        self.wait_until(lambda: self.http.request("GET", "/readyz").status == 200, "ready again")


if __name__ == "__main__":
    unittest.main()
