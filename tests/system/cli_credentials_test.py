"""What the command line shows to a broker that asks who calls, and what it says when that is wrong
or is replaced."""

import subprocess
import unittest

from support.broker import program
from support.cli import CliTest
from support.folder import Folder


def make_token(*names):
    """The token, and its line for the broker."""
    return subprocess.run([program(), "make-token", *names], check=True, text=True,
                          capture_output=True).stdout.splitlines()


class CliToken(CliTest):
    def setUp(self):
        super().setUp()
        self.files = Folder()
        self.addCleanup(self.files.remove)
        self.token, line = make_token("worker")
        self.files.write("tokens", line + "\n")
        self.client.create_queue("mail")
        self.files.write("rules", "allow token:other to read on *\n")
        self.asking_flags = [f"--token-file={self.files.path('tokens')}"]
        asking = self.start_broker(*self.asking_flags)
        self.environment["SKIPLANE_BROKER"] = asking.address

    def test_a_worker_goes_on_when_its_token_was_replaced(self):
        file = self.files.write("own", make_token("worker")[0])
        worker = self.start_cli("work", "mail", "--token-file", file, "--", "cat")
        worker.wait_for_output("the bearer token is not known here, or no longer "
                               "(CREDENTIALS_INVALID); trying again")
        self.client.enqueue("mail", b"after all")
        self.files.write("next", self.token)
        self.files.put_in_place("own", "next")
        worker.wait_for_output("after all")
        worker.terminate()

    def test_who_may_do_nothing_is_told_so(self):
        strict = self.start_broker(*self.asking_flags,
                                   f"--rules-file={self.files.path('rules')}")
        caller = ["--broker", strict.address, "--token-file",
                  self.files.write("own", self.token)]
        self.assertEqual(self.run_cli("whoami", *caller),
                         "token:worker\nno rule allows you anything\n")
        self.run_cli("queues", "list", *caller, code=1)
        self.assertIn("the rules allow you (token:worker) to `read` on no queue", self.errors)

    def test_files_that_cannot_be_used_are_named_and_end_it_with_5(self):
        self.files.make_pair("mine")
        self.files.make_pair("other")
        empty, gone = self.files.write("empty", "\n"), self.files.path("gone")
        mine, other, key = (self.files.path(name)
                            for name in ("mine.crt", "other.key", "mine.key"))
        for flags, said in (
                (["--token-file", gone], f"cannot read {gone}: No such file or directory"),
                (["--token-file", empty], f"the first line of {empty} is no token"),
                (["--tls-cert", gone, "--tls-key", key],
                 f"cannot read {gone}: No such file or directory"),
                (["--tls-cert", mine, "--tls-key", other],
                 f"{other} is not the key of the certificate in {mine}"),
                (["--tls-cert", empty, "--tls-key", key], f"{empty} holds no certificate"),
                (["--tls-ca", key], f"{key} holds no certificate"),
                (["--tls-cert", mine, "--tls-key", mine], f"{mine} holds no private key")):
            self.run_cli("queues", "list", *flags, code=5)
            self.assertIn(said, self.errors)
            self.assertEqual(len(self.errors.splitlines()), 1)


class CliCertificate(CliTest):
    def test_a_certificate_that_is_refused_is_thought_of(self):
        files = Folder()
        self.addCleanup(files.remove)
        for name in ("server", "authority", "stranger"):
            files.make_pair(name)
        asking = self.start_broker(*(f"--{flag}={files.path(name)}" for flag, name in (
            ("tls-cert", "server.crt"), ("tls-key", "server.key"),
            ("tls-client-ca", "authority.crt"))), is_awaited=False)
        self.run_cli("queues", "list", "--broker", asking.address,
                     "--tls-server-name", "localhost", "--tls-ca", files.path("server.crt"),
                     "--tls-cert", files.path("stranger.crt"),
                     "--tls-key", files.path("stranger.key"), "--timeout", "5s", code=3)
        self.assertIn("it may have refused your certificate", self.errors)
        asking.wait_for_output(' warn handshakes_failed peer="" why="certificate verify failed"')


if __name__ == "__main__":
    unittest.main()
