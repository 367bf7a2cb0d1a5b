"""`skiplaned check-config` warns of what is allowed and seldom meant."""

import os
import subprocess
import unittest

from support.broker import program
from support.folder import Folder

HASH = "sha256:" + "0" * 63


class CheckConfig(unittest.TestCase):
    def setUp(self):
        self.files = Folder()
        self.addCleanup(self.files.remove)
        self.files.make_pair("server")
        self.files.sign("leaf", "server", "basicConstraints=CA:FALSE")
        self.files.write("tokens", f"ci {HASH}1 builders\n")
        self.files.write("rules", "group people = jwt:ann\nallow group:people to all on *\n"
                                  "allow group:builders to lease on a-*\n")
        os.chmod(self.files.path("server.key"), 0o600)

    def warnings(self, **others):
        """With the files of these names in the place of the right ones."""
        names = {"tls-cert": "server.crt", "tls-key": "server.key", "tls-client-ca": "server.crt",
                 "token-file": "tokens", "rules-file": "rules",
                 **{name.replace("_", "-"): name_ for name, name_ in others.items()}}
        flags = [f"--{flag}={self.files.path(name)}" for flag, name in names.items()]
        said = subprocess.run([program(), "check-config", "--database=postgresql:///x", *flags],
                              check=True, capture_output=True, text=True).stdout
        self.assertTrue(said.startswith("the settings are right"), said)
        return [line.removeprefix("warning: ").replace(self.files.path(""), "")
                for line in said.splitlines() if line.startswith("warning: ")]

    def test_what_is_as_it_should_be_is_not_warned_of(self):
        self.assertEqual(self.warnings(), [])

    def test_files_that_every_account_may_use(self):
        os.chmod(self.files.path("tokens"), 0o666)
        os.chmod(self.files.path("server.key"), 0o644)
        self.assertEqual(self.warnings(), ["every account may read server.key: chmod o= it",
                                           "every account may change tokens: chmod o-w it"])

    def test_certificates_that_let_nobody_in(self):
        subprocess.run(["faketime", "2020-01-01", "openssl", "req", "-x509", "-key",
                        self.files.path("server.key"), "-days", "2", "-subj", "/CN=localhost",
                        "-out", self.files.path("old.crt")], check=True, capture_output=True)
        self.assertEqual(self.warnings(tls_cert="old.crt"),
                         ["certificate 1 of old.crt has expired"])
        self.assertEqual(self.warnings(tls_client_ca="leaf.crt"),
                         ["certificate 1 of leaf.crt is no authority: no client has one of it"])

    def test_rules_that_are_for_nobody(self):
        self.files.write("more", f"ci {HASH}1 builders\nother {HASH}2\n")
        self.files.write("few", "group people = jwt:ann\nallow token:* to all on *\n"
                                "allow group:builders to lease on a-*\n")
        self.assertEqual(self.warnings(rules_file="few", token_file="more"), [
            "few: token:* is taken literally: * and ? stand for others in names of queues only",
            "few: no rule is for group:people",
            "more: no rule allows anything to token:other"])


if __name__ == "__main__":
    unittest.main()
