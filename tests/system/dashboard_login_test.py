"""Logging in at the dashboard: whom the cookie proves, and for how long."""

import json
import time
import unittest

from support.dashboard import COOKIE, LIST, LOGIN, SECURE_COOKIE, DashboardTest
from support.http import JSON
from web_token_test import LEEWAY_S, WebTokens

ATTRIBUTES = "; HttpOnly; SameSite=Strict; Path=/; Max-Age="


class Login(DashboardTest):
    def test_a_right_token_lets_in_and_the_cookie_proves_who_calls(self):
        self.assertEqual(self.browser.reason_of(), "CREDENTIALS_MISSING")
        answer = self.browser.log_in(self.tokens["ann"])
        self.assertEqual((answer.status, answer.body), (204, b""))
        self.assertEqual(answer.headers["Set-Cookie"],
                         f"{COOKIE}={self.tokens['ann']}{ATTRIBUTES}43200")
        self.assertEqual(answer.headers["Cache-Control"], "no-store")
        self.assertIsNone(self.browser.reason_of())
        self.browser.call("AdminService/CreateQueue", '{"name": "mail"}')
        self.assertEqual(self.database.value("SELECT actor FROM skiplane.audit"), "token:ann")

    def test_a_wrong_token_does_not(self):
        for token in ("skt_" + "x" * 43, self.tokens["ann"] + "x", "a.b.c", "secret"):
            answer = self.browser.log_in(token)
            self.assertEqual((answer.status, answer.code(), answer.reason()),
                             (401, "unauthenticated", "CREDENTIALS_INVALID"))
            self.assertIsNone(answer.headers["Set-Cookie"])
        self.assertEqual(self.browser.reason_of(), "CREDENTIALS_MISSING")

    def test_what_is_no_login_is_refused(self):
        def status_of(body, **fields):
            answer = self.browser.request("POST", LOGIN, body, **{"Content_Type": JSON, **fields})
            self.assertIsNone(answer.headers["Set-Cookie"])
            self.assertTrue(answer.json()["message"])
            return answer.status

        right = json.dumps({"token": self.tokens["ann"]})
        for body in ("", "{}", "[]", "token", right[:-1], '{"token": 1}', '{"token": ""}',
                     '{"token": "a b"}', '{"token": "' + "x" * 5000 + '"}',
                     json.dumps({"token": self.tokens["ann"], "actor": "x"})):
            self.assertEqual(status_of(body), 400, body)
        self.assertEqual(status_of(right, Content_Type="text/plain"), 415)
        self.assertEqual(status_of(right, Content_Type="application/x-www-form-urlencoded"), 415)
        self.assertEqual(status_of(right, Content_Encoding="gzip"), 501)
        self.assertEqual(status_of(right + " " * (16 << 10)), 413)

    def test_a_body_in_chunks_is_bounded_too(self):
        answer = self.browser.request("POST", LOGIN, iter([b"{" + b" " * (16 << 10), b"}"]),
                                      Content_Type=JSON)
        self.assertEqual(answer.status, 413)

    def test_logging_out_ends_it(self):
        self.browser.log_in(self.tokens["ann"])
        answer = self.browser.log_out()
        self.assertEqual((answer.status, answer.headers.get_all("Set-Cookie")), (204, [
            f"{COOKIE}={ATTRIBUTES}0", f"{SECURE_COOKIE}={ATTRIBUTES}0; Secure"]))
        self.assertEqual(self.browser.reason_of(), "CREDENTIALS_MISSING")

    def test_a_token_that_is_taken_away_ends_it_at_once(self):
        self.browser.log_in(self.tokens["ann"])
        other = self.browser_of(self.broker)
        other.log_in(self.tokens["bob"])
        self.write_tokens("bob")
        self.broker.wait_for_output(" reloaded ")
        self.assertEqual(self.browser.reason_of(), "CREDENTIALS_INVALID")
        self.assertIsNone(other.reason_of())
        self.assertEqual(self.browser.log_in(self.tokens["ann"]).status, 401)

    def test_brokers_know_each_others_and_a_restart_ends_nothing(self):
        self.browser.log_in(self.tokens["ann"])
        second = self.browser_of(self.start_with_dashboard())
        second.cookies = self.browser.cookies
        self.assertIsNone(second.reason_of())
        self.assertEqual(self.broker.terminate(), 0)
        third = self.browser_of(self.start_with_dashboard())
        third.cookies = self.browser.cookies
        self.assertIsNone(third.reason_of())

    def test_a_cookie_that_holds_no_token_is_as_none_and_the_refusal_says_so(self):
        for value in ("", '"x"', "a b", "x" * 4001, "\x80"):
            answer = self.browser.call(Cookie=f"{COOKIE}={value}")
            self.assertEqual((answer.status, answer.reason()), (401, "CREDENTIALS_MISSING"))
            self.assertIn("log in again", answer.json()["message"])
        answer = self.browser.call(Cookie=f"{COOKIE}={self.tokens['ann']}; {COOKIE}=x")
        self.assertEqual((answer.status, answer.reason()), (401, "CREDENTIALS_MISSING"))
        self.assertIn("twice", answer.json()["message"])

    def test_authorization_goes_before_it(self):
        self.browser.log_in(self.tokens["ann"])
        self.assertEqual(self.browser.reason_of(Authorization="Bearer skt_x"),
                         "CREDENTIALS_INVALID")
        self.browser.call("AdminService/CreateQueue", '{"name": "mail"}',
                          Authorization=f"Bearer {self.tokens['bob']}")
        self.assertEqual(self.database.value("SELECT actor FROM skiplane.audit"), "token:bob")


class LoginByTls(DashboardTest):
    with_tls = True

    def test_the_cookie_is_for_tls_and_this_host_alone(self):
        answer = self.browser.log_in(self.tokens["ann"])
        self.assertEqual(answer.headers["Set-Cookie"],
                         f"{SECURE_COOKIE}={self.tokens['ann']}{ATTRIBUTES}43200; Secure")
        self.assertIsNone(self.browser.reason_of())
        # Whoever is between may set this one by a page without TLS.
        self.browser.cookies = {COOKIE: self.tokens["ann"]}
        self.assertEqual(self.browser.reason_of(), "CREDENTIALS_MISSING")


class LoginByCertificate(DashboardTest):
    with_tls = True

    def test_a_client_certificate_needs_no_login(self):
        self.files.make_pair("client")
        broker = self.start_with_dashboard(f"--tls-client-ca={self.files.path('client.crt')}",
                                           "--tls-client-certificate=optional")
        stranger = self.browser_of(broker)
        self.assertEqual(stranger.reason_of(), "CREDENTIALS_MISSING")
        self.context.load_cert_chain(self.files.path("client.crt"), self.files.path("client.key"))
        browser = self.browser_of(broker)
        self.assertEqual(browser.request("GET", "/dashboard/").status, 200)
        browser.call("AdminService/CreateQueue", '{"name": "mail"}')
        self.assertEqual(self.database.value("SELECT actor FROM skiplane.audit"),
                         "certificate:localhost")


class LoginWithoutCredentials(DashboardTest):
    """A broker that asks nobody who calls works without, also for who was logged in elsewhere."""

    def test_everything_works_without(self):
        broker = self.start_broker("--dashboard", http="127.0.0.1:0")
        browser = self.browser_of(broker)
        self.assertIsNone(browser.reason_of())
        for cookie in (f"{COOKIE}=old", f"{COOKIE}=", f"{COOKIE}=a; {COOKIE}=b"):
            self.assertIsNone(browser.reason_of(Cookie=cookie))


class LoginByWebToken(WebTokens):
    """With the keys of an identity provider."""

    def serve(self, *flags, **options):
        super().serve(*flags, "--dashboard", **options)

    def test_a_token_that_expires_ends_the_login(self):
        def log_in(token):
            return self.http.request("POST", LOGIN, json.dumps({"token": token}),
                                     Content_Type=JSON)

        def call(token):
            return self.http.call(LIST, {}, Cookie=f"{COOKIE}={token}",
                                  Connect_Protocol_Version="1")

        self.assertEqual(log_in(self.sign(exp=int(time.time()) - 2 * LEEWAY_S)).status, 401)
        self.assertEqual(log_in(self.sign()).status, 204)
        expiring = self.expiring()
        self.assertEqual(call(expiring).status, 200)
        self.wait_until_said("CREDENTIALS_INVALID", expiring)
        self.assertEqual(call(expiring).reason(), "CREDENTIALS_INVALID")


if __name__ == "__main__":
    unittest.main()
