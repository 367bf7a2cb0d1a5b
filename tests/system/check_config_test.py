"""`skiplaned check-config` warns of what is allowed and seldom meant, and says what is wrong."""

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
        self.files.write("rules", "group people = certificate:ann\nallow group:people to all on *\n"
                                  "allow group:builders to lease on a-*\n")
        os.chmod(self.files.path("server.key"), 0o600)

    def warnings(self, *more, database="--database=postgresql:///x", **others):
        """With the files of these names in the place of the right ones, and further flags."""
        names = {"tls-cert": "server.crt", "tls-key": "server.key", "tls-client-ca": "server.crt",
                 "token-file": "tokens", "rules-file": "rules",
                 **{name.replace("_", "-"): name_ for name, name_ in others.items()}}
        flags = [f"--{flag}={self.files.path(name)}" for flag, name in names.items() if name]
        said = subprocess.run([program(), "check-config", database, *flags, *more],
                              check=True, capture_output=True, text=True).stdout
        self.assertTrue(said.startswith("the settings are right"), said)
        self.said = said
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

    def test_the_certificate_of_a_caller_in_the_place_of_the_brokers(self):
        """Both programs read SKIPLANE_TLS_CERT."""
        self.files.sign("caller", "server", "extendedKeyUsage=clientAuth")
        os.chmod(self.files.path("caller.key"), 0o600)
        self.assertEqual(self.warnings(tls_cert="caller.crt", tls_key="caller.key"),
                         ["certificate 1 of caller.crt is not one for servers: no client takes it;"
                          " SKIPLANE_TLS_CERT is also what `skiplane` shows"])

    def test_rules_that_are_for_nobody(self):
        self.files.write("more", f"ci {HASH}1 builders\nother {HASH}2\n")
        self.files.write("few", "group people = certificate:ann\nallow token:* to all on *\n"
                                "allow group:builders to lease on a-*\n")
        self.assertEqual(self.warnings(rules_file="few", token_file="more"), [
            "few: token:* is taken literally: * and ? stand for others in names of queues only",
            "few: no rule is for group:people",
            "more: no rule allows anything to token:other"])

    def test_names_that_nobody_can_have(self):
        self.files.write("ghosts", "group people = token:gone, certificate:ann\n"
                                   "allow group:people to all on *\n"
                                   "allow jwt:x to all on *\nallow anonymous to read on *\n"
                                   "allow group:ghost to all on *\n"
                                   "allow group:builders to lease on a-*\n")
        gone = "ghosts: nobody is token:gone: no token has this name"
        self.assertEqual(self.warnings(rules_file="ghosts"), [
            "ghosts: nobody is anonymous: the broker asks who calls",
            "ghosts: nobody is in group:ghost",
            "ghosts: nobody is jwt:x: there is no --jwt-keys", gone])
        self.assertEqual(
            self.warnings(rules_file="ghosts", token_file="", tls_client_ca=""), [
                "ghosts: nobody is certificate:ann: there is no --tls-client-ca",
                "ghosts: nobody is in group:builders",
                "ghosts: nobody is in group:ghost",
                "ghosts: nobody is jwt:x: there is no --jwt-keys",
                "ghosts: nobody is token:gone: there is no --token-file"])
        with_keys = self.warnings(
            f"--jwt-keys={self.public_key()}", "--jwt-issuer=i", "--jwt-audience=a",
            rules_file="ghosts")
        self.assertEqual(with_keys, ["ghosts: nobody is anonymous: the broker asks who calls",
                                     gone])

    def public_key(self):
        subprocess.run(["openssl", "pkey", "-in", self.files.path("server.key"), "-pubout", "-out",
                        self.files.path("public")], check=True, capture_output=True)
        return self.files.path("public")

    def test_a_password_that_others_may_read(self):
        uri = "postgresql://u:secret@/x"
        file = self.files.write("database", f"{uri}\n")
        os.chmod(file, 0o644)
        self.assertEqual(self.warnings(database=f"--database-file={file}"),
                         ["every account may read database: chmod o= it"])
        os.chmod(file, 0o640)
        self.assertEqual(self.warnings(database=f"--database-file={file}"), [])
        self.files.write("database", "postgresql:///x\n")
        os.chmod(file, 0o644)
        self.assertEqual(self.warnings(database=f"--database-file={file}"), [])
        self.assertEqual(self.warnings(database=f"--database={uri}"), [
            "the database's password stands on the command line, where every account may read it: "
            "use --database-file, or set SKIPLANE_DATABASE"])
        self.assertNotIn("secret", self.said)

    def test_it_says_of_tls_what_a_broker_says(self):
        self.warnings()
        self.assertIn("\ntls: mutual\n", self.said)
        self.warnings("--tls-client-certificate=optional")
        self.assertIn("\ntls: on\n", self.said)


class WrongFiles(unittest.TestCase):
    """They end it with 2, as wrong flags do, and so they end a broker: nobody need try again."""

    def setUp(self):
        self.files = Folder()
        self.addCleanup(self.files.remove)

    def refusals(self, *flags):
        """What a check and a broker say."""
        said = []
        for command in (["check-config"], []):
            done = subprocess.run([program(), *command, "--listen=127.0.0.1:0", *flags],
                                  check=False, capture_output=True, text=True)
            self.assertEqual(done.returncode, 2, done.stderr)
            said.append(done.stderr)
        self.assertTrue(said[0].startswith("skiplaned: "), said[0])
        return said

    def test_a_line_that_is_wrong(self):
        rules = self.files.write("rules", "allow token:a to fly on *\n")
        for said in self.refusals("--database=postgresql:///x", f"--rules-file={rules}"):
            self.assertIn(f"{rules} line 1: `fly`", said)

    def test_a_uri_that_is_malformed(self):
        file = self.files.write("database", "postgresql://u:secret@h/x?%zz\n")
        for said in self.refusals(f"--database-file={file}"):
            self.assertIn("the database's URI is malformed", said)
            self.assertNotIn("secret", said)

    def test_a_file_that_cannot_be_reached_is_not_told_as_missing(self):
        os.symlink("loop", self.files.path("loop"))
        for said in self.refusals("--database=postgresql:///x",
                                  f"--rules-file={self.files.path('loop')}"):
            self.assertIn("loop cannot be reached: Too many levels of symbolic links", said)

    def test_a_name_with_a_comma_gets_no_token(self):
        done = subprocess.run([program(), "make-token", "x,y"], check=False, capture_output=True,
                              text=True)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertTrue(done.stderr.startswith("skiplaned: name: "), done.stderr)
        self.assertIn("no comma", done.stderr)


if __name__ == "__main__":
    unittest.main()
