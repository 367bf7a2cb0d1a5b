"""No page of another site makes a browser act by its log-in at the dashboard."""

import unittest

from support.dashboard import LIST, DashboardTest
from support.http import SERVICES

LISTED = "https://tools.example"


class Site(DashboardTest):
    flags = (f"--http-origin={LISTED}",)

    def setUp(self):
        super().setUp()
        self.own = f"http://{self.broker.http_address}"
        self.assertEqual(self.browser.log_in(self.tokens["ann"]).status, 204)

    def assert_ignored(self, why, **fields):
        """The cookie; without it and with a token the same call is answered."""
        answer = self.browser.call(**fields)
        self.assertEqual((answer.status, answer.reason()), (401, "CREDENTIALS_MISSING"))
        self.assertIn(why, answer.json()["message"])
        answer = self.browser.call(Authorization=f"Bearer {self.tokens['ann']}", **fields)
        self.assertEqual(answer.status, 200)

    def test_calls_of_the_own_page_are_proven(self):
        for fields in ({}, {"Origin": self.own}, {"Sec_Fetch_Site": "same-origin"},
                       {"Origin": self.own, "Sec_Fetch_Site": "same-origin"}):
            self.assertIsNone(self.browser.reason_of(**fields))

    def test_without_the_field_that_needs_leave_the_cookie_is_ignored(self):
        self.assert_ignored("Connect-Protocol-Version", Connect_Protocol_Version=None)

    def test_from_another_site_by_what_the_browser_says_the_cookie_is_ignored(self):
        for site in ("cross-site", "same-site", "none"):
            self.assert_ignored("Sec-Fetch-Site", Sec_Fetch_Site=site)

    def test_from_a_listed_page_the_cookie_is_ignored(self):
        self.assert_ignored("Origin", Origin=LISTED)
        self.assertEqual(self.browser.call(Origin=LISTED).headers["Access-Control-Allow-Origin"],
                         LISTED)

    def test_a_listed_page_gets_no_leave_to_send_cookies(self):
        answer = self.browser.request(
            "OPTIONS", SERVICES + LIST, Origin=LISTED, Access_Control_Request_Method="POST",
            Access_Control_Request_Headers="content-type,connect-protocol-version")
        self.assertEqual(answer.status, 204)
        self.assertIsNone(answer.headers["Access-Control-Allow-Credentials"])

    def test_a_page_that_is_not_listed_does_not_call_at_all(self):
        self.assertEqual(self.browser.reason_of(Origin="https://evil.example"),
                         "ORIGIN_NOT_ALLOWED")

    def test_only_the_own_page_logs_in_and_out(self):
        for fields in ({}, {"Origin": self.own}, {"Sec_Fetch_Site": "same-origin"},
                       {"Sec_Fetch_Site": "none"}):
            self.assertEqual(self.browser.log_in(self.tokens["ann"], **fields).status, 204)
        for fields in ({"Origin": LISTED}, {"Origin": "https://evil.example"}, {"Origin": "null"},
                       {"Sec_Fetch_Site": "cross-site"}, {"Sec_Fetch_Site": "same-site"},
                       {"Origin": self.own, "Sec_Fetch_Site": "cross-site"}):
            for answer in (self.browser.log_in(self.tokens["bob"], **fields),
                           self.browser.log_out(**fields)):
                self.assertEqual((answer.status, answer.reason()), (403, "ORIGIN_NOT_ALLOWED"))
                self.assertIsNone(answer.headers["Set-Cookie"])
        self.assertIsNone(self.browser.reason_of())

    def test_refusals_count(self):
        name = 'skiplane_http_refused_requests_total{{reason="{}"}}'.format
        before = self.broker.metrics()
        self.browser.log_in("skt_x"), self.browser.log_out(Origin=LISTED)
        self.browser.call(Connect_Protocol_Version=None)
        after = self.broker.metrics()
        for reason, count in (("caller", 2), ("site", 1), ("body", 0)):
            self.assertEqual(after[name(reason)] - before[name(reason)], count, reason)


if __name__ == "__main__":
    unittest.main()
