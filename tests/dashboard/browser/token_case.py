"""The dashboard of a broker that asks who calls."""

import subprocess

import grpc

from browser.case import DashboardTest
from support.broker import program
from support.client import DEADLINE_S, Client, admin_pb2
from support.folder import Folder

RULES = """allow token:root to all on *
allow token:reader to read on mail
allow token:operator to read, read_payload, operate, enqueue on mail
"""


class TokenTest(DashboardTest):
    """Has tokens: `root` may do all, `reader` look at the queue mail only."""

    def setUp(self):
        self.files = Folder()
        self.addCleanup(self.files.remove)
        self.tokens, self.lines = {}, {}
        for name in ("root", "reader", "operator"):
            self.tokens[name], self.lines[name] = subprocess.run(
                [program(), "make-token", name], check=True, text=True,
                capture_output=True).stdout.splitlines()[:2]
        self.write_tokens("root", "reader", "operator")
        self.files.write("rules", RULES)
        self.flags = ("--auto-create-queues", f"--token-file={self.files.path('tokens')}",
                      f"--rules-file={self.files.path('rules')}")
        super().setUp()

    def write_tokens(self, *names):
        """Those of others are no longer known."""
        self.files.write("tokens", "\n".join(self.lines[name] for name in names) + "\n")

    def wait_until_refused(self, name):
        """The broker has read the file anew."""
        client = self.client_of(self.broker, self.tokens[name])
        def is_refused():
            try:
                client.admin.WhoAmI(admin_pb2.WhoAmIRequest(), timeout=DEADLINE_S)
                return False
            except grpc.RpcError as error:
                return error.code() == grpc.StatusCode.UNAUTHENTICATED
        self.wait_until(is_refused, f"the token of {name} is refused")

    def client_of(self, broker, token=None):
        client = Client(broker.address, token or self.tokens["root"])
        self.addCleanup(client.close)
        return client

    def log_in(self, name):
        """Where the form is shown."""
        self.page.wait_for("Log in to Skiplane", "dialog[open]")
        self.page.fill("Token", self.tokens[name])
        self.page.click("Log in")
        self.page.until(lambda: not self.page.find("dialog[open]"), "the form is gone")
