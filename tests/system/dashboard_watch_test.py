"""Watching with a log-in cookie: whom it lets in, and for how long."""

import unittest

from support.dashboard import OWN_CALL, DashboardTest
from support.http_stream import END, PLAIN, STREAM_JSON, envelope, error_in, read_envelope

WATCH = "AdminService/Watch"


class Watching(DashboardTest):
    def begin(self, **fields):
        """A stream whose messages are still to come."""
        cookies = "; ".join(f"{name}={value}" for name, value in self.browser.cookies.items())
        connection = self.browser.http.connection
        fields = {"Content-Type": STREAM_JSON, "Cookie": cookies,
                  **{name.replace("_", "-"): value
                     for name, value in {**OWN_CALL, **fields}.items()}}
        connection.request("POST", f"/skiplane.v1.{WATCH}", envelope(b"{}"), fields)
        return connection.getresponse()

    def test_the_cookie_proves_who_watches_until_its_token_is_taken_away(self):
        self.browser.log_in(self.tokens["ann"])
        stream = self.begin()
        self.assertEqual(read_envelope(stream), (PLAIN, b"{}"))
        self.write_tokens("bob")
        self.broker.wait_for_output(" reloaded ")
        flags, end = read_envelope(stream)
        self.assertEqual((flags, *error_in(end)), (END, "unauthenticated", "CREDENTIALS_INVALID"))

    def test_without_a_cookie_nobody_watches(self):
        self.assertEqual(self.begin().status, 401)

    def test_no_page_of_another_site_watches_with_the_cookie(self):
        self.browser.log_in(self.tokens["ann"])
        self.assertEqual(self.begin(Origin="http://evil.example").status, 403)


if __name__ == "__main__":
    unittest.main()
