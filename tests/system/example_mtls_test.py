"""deploy/example-mtls, put in place and started by the commands of OPERATIONS.md."""

import os
import shutil
import subprocess
import unittest

from support import broker as brokers
from support import cli, document, stubs
from support.case import SystemTest, slow
from support.folder import Folder
from support.http import HttpClient, trusting
from support.http_case import ANY_PORT
from support.process import GENEROUS_S

HEADING = "An example with client certificates"
NAME = "broker.internal"  # by which the document's callers reach the broker
HERE = "localhost"


@slow
class Mtls(SystemTest):
    def setUp(self):
        super().setUp()
        self.files = Folder()
        self.addCleanup(self.files.remove)
        self.etc = self.files.path("etc")
        os.mkdir(self.etc)
        shutil.copytree(os.path.join(stubs.ROOT, "deploy"), self.files.path("deploy"))
        settings = "deploy/example-mtls/skiplaned.conf"
        self.files.write(settings, self.here(self.files.read(settings).decode()))
        for number in range(2):
            self.run_block(number)
        self.broker = brokers.Broker(f"--config={self.etc}/skiplaned.conf", http=ANY_PORT,
                                     is_awaited=False)
        self.addCleanup(self.broker.end)
        self.port = self.broker.address.rsplit(":", 1)[1]

    def here(self, text):
        """Of another machine's folder, group, database and name."""
        for old, new in (("/etc/skiplane", self.etc), (" -g skiplane", ""), (NAME, HERE),
                         ("postgresql://skiplane:PASSWORD@database.internal/skiplane",
                          self.database.broker_uri)):
            text = text.replace(old, new)
        return text

    def run_block(self, number, more=""):
        """A block of the document's commands, and further ones."""
        code = self.here(document.commands("docs/OPERATIONS.md", HEADING, number)) + more
        if number == 2:
            code = code.replace(f"{HERE}:7070", f"{HERE}:{self.port}")
        folders = [os.path.dirname(program) for program in (brokers.program(), cli.program())]
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", code], cwd=self.files.path("."), check=False,
            env={**os.environ, "PATH": os.pathsep.join([*folders, os.environ["PATH"]])},
            capture_output=True, text=True, timeout=GENEROUS_S)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def test_each_caller_does_its_own_work_and_no_other(self):
        said = self.run_block(2)
        self.assertIn("token:dashboard", said)
        self.assertEqual(self.database.number("SELECT count(*) FROM skiplane.history"), 1)
        for refused in ("as worker enqueue orders-new 17",
                        "as producer work orders-new --burst -- cat",
                        "as producer queues create orders-mine", "as operator queues create mail",
                        "as dashboard tasks list orders-new",
                        "as dashboard --token-file dashboard.token queues pause orders-new"):
            with self.subTest(refused):
                said = self.run_block(2, f"! {refused}\n")
                self.assertIn("ACCESS_DENIED", said)

    def test_strangers_do_not_come_in(self):
        for name in ("stranger", "other"):
            self.files.make_pair(name)
        common = 'set -- --timeout 1s --token-file dashboard.token\n! skiplane "$@" whoami\n'
        for own in ("", "set -- \"$@\" --tls-cert stranger.crt --tls-key stranger.key\n"):
            with self.subTest(own):
                said = self.run_block(2, common.replace("! ", own + "! "))
                self.assertIn("not reachable", said.lower().replace("no broker", "not reachable"))

    def test_by_http_the_certificate_counts_as_well(self):
        path = self.files.path
        port = self.broker.http_address.rsplit(":", 1)[1]
        own = path("authority/operator.crt"), path("authority/operator.key")
        client = HttpClient(f"{HERE}:{port}", trusting(path("authority/ca.crt"), own))
        self.addCleanup(client.close)
        self.assertEqual(client.call("AdminService/WhoAmI", {}).json()["principal"],
                         "certificate:operator")
        stranger = HttpClient(f"{HERE}:{port}", trusting(path("authority/ca.crt")))
        self.addCleanup(stranger.close)
        with self.assertRaises(OSError):
            stranger.call("AdminService/WhoAmI", {})

class Certificates(unittest.TestCase):
    def test_an_address_is_named_as_one(self):
        files = Folder()
        self.addCleanup(files.remove)
        made = os.path.join(stubs.ROOT, "deploy/example-mtls/make-certificates")
        for broker, name in (("127.0.0.1", "IP Address:127.0.0.1"), ("::1", "IP Address:0:0:"),
                             ("broker.internal", "DNS:broker.internal"), ("10.a", "DNS:10.a")):
            folder = files.path(broker)
            subprocess.run([made, folder, broker, "ann"], check=True, capture_output=True)
            for certificate, says in (("broker", name), ("ann", "DNS:ann")):
                said = subprocess.run(
                    ["openssl", "x509", "-in", f"{folder}/{certificate}.crt", "-noout", "-ext",
                     "subjectAltName"], check=True, capture_output=True, text=True).stdout
                self.assertIn(says, said)


if __name__ == "__main__":
    unittest.main()
