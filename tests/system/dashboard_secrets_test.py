"""The token that a log-in shows, and its cookie, are found nowhere else."""

import unittest

from support.canary import CANARY, found_in
from support.dashboard import COOKIE, LOGIN, DashboardTest
from support.http import JSON

TOKENS = (f"skt_{CANARY}0123456789012345678901234567890123", CANARY, f"eyJ{CANARY}.{CANARY}.x")


class Secrets(DashboardTest):
    flags = ("--log-level=debug",)

    def shown(self):
        """All that who logs in in vain is told."""
        answers = []
        for token in TOKENS:
            for answer in (self.browser.log_in(token), self.browser.log_in(f"{token} "),
                           self.browser.log_in(f"{token};", Content_Type="text/plain"),
                           self.browser.request("POST", LOGIN, token, Content_Type=JSON),
                           self.browser.request("POST", LOGIN, f'{{"{token}": ""}}',
                                                Content_Type=JSON)):
                self.assertGreaterEqual(answer.status, 400)
                answers.append(answer)
            for cookie in (f"{COOKIE}={token}", f"{COOKIE}={token}; {COOKIE}={token}",
                           f'{COOKIE}="{token}"', f"{token}={token}"):
                for fields in ({}, {"Connect_Protocol_Version": None}, {"Origin": "null"},
                               {"Content_Type": "text/plain"}, {"Connect_Timeout_Ms": "soon"}):
                    answer = self.browser.call(Cookie=cookie, **fields)
                    self.assertGreaterEqual(answer.status, 400)
                    answers.append(answer)
        for answer in answers:
            yield answer.body
            yield str(answer.headers)

    def test_wrong_tokens_and_cookies_are_repeated_nowhere(self):
        for text in self.shown():
            self.assertEqual(found_in(text), [])
        self.assertEqual(found_in(self.browser.request("GET", "/metrics").body), [])
        self.broker.terminate()
        self.assertGreater(len(self.broker.output), 100)
        self.assertEqual(found_in(self.broker.output), [])

    def test_a_right_token_is_only_in_the_cookie(self):
        token = self.tokens["ann"]
        self.browser.log_in(token)
        answers = [self.browser.call("AdminService/CreateQueue", '{"name": "mail"}'),
                   self.browser.call("AdminService/WhoAmI"),
                   self.browser.call("AdminService/GetServerInfo"),
                   self.browser.call("AdminService/ListAuditEntries"),
                   self.browser.request("GET", "/dashboard/"), self.browser.log_out()]
        self.assertEqual(answers[0].status, 200)
        for answer in answers:
            self.assertNotIn(token.encode(), answer.body)
            self.assertNotIn(token, str(answer.headers))
        self.broker.terminate()
        self.assertNotIn(token, self.broker.output)
        dump = self.database.value("SELECT database_to_xml(true, false, '')::text")
        self.assertIn("token:ann", dump)
        self.assertNotIn(token, dump)


if __name__ == "__main__":
    unittest.main()
