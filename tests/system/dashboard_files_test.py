"""The dashboard's files at the HTTP port, and when they are there."""

import gzip
import os
import tempfile
import unittest

from support.broker import Broker, program
from support.case import slow
from support.dashboard import DashboardTest
from support.http import HttpClient
from support.http_case import ANY_PORT, HttpTest
from support.process import Process

DIST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../client/dashboard/dist")
POLICY = ("default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
          "connect-src 'self'; font-src 'none'; base-uri 'none'; form-action 'self'; "
          "frame-ancestors 'none'")


def built(name):
    with open(os.path.join(DIST, name), "rb") as file:
        return file.read()


class Files(DashboardTest):
    """Nobody has logged in."""

    def get(self, path, method="GET", **fields):
        return self.browser.request(method, f"/dashboard/{path}", **fields)

    def test_each_file_is_that_of_the_repository_with_its_type(self):
        for path, kind in (("index.html", "text/html"), ("dashboard.js", "text/javascript"),
                           ("dashboard.css", "text/css")):
            answer = self.get(path)
            self.assertEqual((answer.status, answer.headers["Content-Type"]),
                             (200, f"{kind}; charset=utf-8"))
            self.assertEqual(answer.body, built(path))
            self.assertIsNone(answer.headers["Content-Encoding"])

    def test_addresses_of_the_page_have_the_page_and_no_other_names_do(self):
        for path in ("", "queues", "queues/mail.send/tasks?state=FAILED", "login"):
            self.assertEqual(self.get(path).body, built("index.html"), path)
        for path in ("favicon.ico", "dashboard.js.map", "robots.txt"):
            answer = self.get(path)
            self.assertEqual((answer.status, answer.reason()), (404, "NOT_SUPPORTED"), path)

    def test_what_guards_the_page_comes_with_each_file(self):
        for path in ("", "dashboard.js", "dashboard.css"):
            for version in ({}, {"If_None_Match": self.get(path).headers["ETag"]}):
                fields = self.get(path, **version).headers
                self.assertEqual(fields["Content-Security-Policy"], POLICY)
                self.assertEqual(fields["X-Content-Type-Options"], "nosniff")
                self.assertEqual(fields["Referrer-Policy"], "no-referrer")
                self.assertEqual(fields["Cross-Origin-Opener-Policy"], "same-origin")
                self.assertEqual(fields["Cache-Control"], "no-cache")
                self.assertIsNone(fields["Set-Cookie"])

    def test_a_browser_that_has_a_file_is_told_so(self):
        tags = {self.get(path).headers["ETag"] for path in ("", "dashboard.js", "dashboard.css")}
        self.assertEqual(len(tags), 3)
        tag = self.get("").headers["ETag"]
        for method in ("GET", "HEAD"):
            answer = self.get("queues", method, If_None_Match=tag)
            self.assertEqual((answer.status, answer.body, answer.headers["ETag"]), (304, b"", tag))
            self.assertIsNone(answer.headers["Content-Length"])
        # The connection is still good: the answer had no body.
        self.assertEqual(self.get("dashboard.js", If_None_Match=tag).status, 200)

    def test_files_are_packed_for_who_takes_that(self):
        answer = self.get("dashboard.js", Accept_Encoding="gzip, br")
        self.assertEqual(answer.headers["Content-Encoding"], "gzip")
        self.assertEqual(answer.headers["Vary"], "Accept-Encoding")
        self.assertEqual(gzip.decompress(answer.body), built("dashboard.js"))
        self.assertLess(len(answer.body), len(built("dashboard.js")))
        self.assertEqual(self.get("dashboard.js").headers["Vary"], "Accept-Encoding")

    def test_a_head_says_what_a_get_would_have(self):
        for path in ("", "dashboard.js"):
            said, had = self.get(path, "HEAD"), self.get(path)
            self.assertEqual((said.status, said.body), (200, b""))
            for name in ("Content-Length", "Content-Type", "ETag"):
                self.assertEqual(said.headers[name], had.headers[name])

    def test_files_are_only_read(self):
        for path, allowed in (("", "GET, HEAD"), ("dashboard.js", "GET, HEAD"),
                              ("login", "GET, HEAD, POST"), ("logout", "GET, HEAD, POST")):
            for method in ("PUT", "DELETE", "OPTIONS"):
                answer = self.get(path, method)
                self.assertEqual((answer.status, answer.headers["Allow"]), (405, allowed))

    def test_the_start_of_the_site_leads_to_it(self):
        for path, status in (("/", 303), ("/dashboard", 308)):
            for method in ("GET", "HEAD"):
                answer = self.browser.request(method, path)
                self.assertEqual((answer.status, answer.headers["Location"]),
                                 (status, "/dashboard/"))

    def test_pages_of_strangers_get_nothing(self):
        for fields in ({"Host": "evil.example"}, {"Origin": "https://evil.example"}):
            self.assertEqual(self.get("", **fields).status, 403)

    def test_the_log_says_where_it_is(self):
        self.assertIn(f" dashboard=http://{self.broker.http_address}/dashboard/ ",
                      self.broker.output)


class Off(HttpTest):
    """As long as nobody asks for it."""

    def test_there_is_no_dashboard(self):
        for path in ("/", "/dashboard", "/dashboard/", "/dashboard/dashboard.js",
                     "/dashboard/login"):
            for method in ("GET", "POST"):
                self.assertEqual(self.http.request(method, path).status, 404, path)
        self.assertIn(' dashboard="" ', self.broker.output)

    def test_it_needs_the_http_port(self):
        ended = Process([program(), "check-config", "--database=postgresql:///x", "--dashboard"])
        self.addCleanup(ended.end)
        self.assertEqual(ended.wait(), 2)
        self.assertIn("--dashboard: it is served at the HTTP port, and there is none: add "
                      "--http-listen", ended.output)


class Embedded(unittest.TestCase):
    """Where somebody tries Skiplane out."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="skiplane-embedded-")
        self.addCleanup(folder.cleanup)
        os.chmod(folder.name, 0o755)  # a root caller's cluster runs as another user
        self.flag = f"--embedded={folder.name}/data"

    def status_with(self, *flags):
        broker = Broker(self.flag, *flags, http=ANY_PORT)
        self.addCleanup(broker.end)
        http = HttpClient(broker.http_address)
        self.addCleanup(http.close)
        status = http.request("GET", "/dashboard/").status
        self.assertEqual(broker.terminate(), 0)
        return status

    @slow
    def test_it_is_there_unless_somebody_says_that_it_shall_not_be(self):
        self.assertEqual(self.status_with(), 200)
        self.assertEqual(self.status_with("--no-dashboard"), 404)


if __name__ == "__main__":
    unittest.main()
