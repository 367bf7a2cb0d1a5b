"""A broker with the dashboard, and browsers that log in there: as much of them as a test needs."""

import json
import os
import subprocess

from .broker import program
from .case import SystemTest
from .folder import Folder
from .http import JSON, HttpClient, place, trusting
from .http_case import ANY_PORT

LOGIN, LOGOUT = "/dashboard/login", "/dashboard/logout"
COOKIE, SECURE_COOKIE = "skiplane_session", "__Host-skiplane_session"
LIST = "AdminService/ListQueues"
# What the page sends with each call.
OWN_CALL = {"Connect_Protocol_Version": "1"}


class Browser:
    """Keeps the cookies that it is told to, and sends them."""

    def __init__(self, address, context=None):
        self.http = HttpClient(address, context)
        self.close = self.http.close
        self.cookies = {}

    def request(self, method, path, body=None, **fields):
        if self.cookies:
            cookies = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
            fields.setdefault("Cookie", cookies)
        answer = self.http.request(method, path, body, **fields)
        for told in answer.headers.get_all("Set-Cookie", ()):
            name, value = told.split(";")[0].split("=", 1)
            self.cookies.pop(name, None)
            if "Max-Age=0" not in told:
                self.cookies[name] = value
        return answer

    def log_in(self, token, **fields):
        return self.request("POST", LOGIN, json.dumps({"token": token}),
                            **{"Content_Type": JSON, **fields})

    def log_out(self, **fields):
        return self.request("POST", LOGOUT, **fields)

    def call(self, method=LIST, body="{}", **fields):
        """As the page calls, unless fields say otherwise; None leaves one out."""
        fields = {"Content_Type": JSON, **OWN_CALL, **fields}
        return self.request("POST", f"/skiplane.v1.{method}", body, **{
            name: value for name, value in fields.items() if value is not None})

    def reason_of(self, *arguments, **fields):
        """Why a call is refused; none if it is not."""
        answer = self.call(*arguments, **fields)
        return None if answer.status == 200 else answer.reason()


class DashboardTest(SystemTest):
    """A broker that asks for tokens, of ann and bob."""

    flags = ()
    with_tls = False

    def setUp(self):
        super().setUp()
        self.files = Folder()
        self.addCleanup(self.files.remove)
        self.tokens, self.lines = {}, {}
        for name in ("ann", "bob"):
            self.tokens[name], self.lines[name] = subprocess.run(
                [program(), "make-token", name], check=True, text=True,
                capture_output=True).stdout.splitlines()
        self.write_tokens("ann", "bob")
        self.context, tls = None, ()
        if self.with_tls:
            self.files.make_pair("server")
            self.context = trusting(self.files.path("server.crt"))
            tls = [f"--tls-{end}={self.files.path('server')}.{name}"
                   for end, name in (("cert", "crt"), ("key", "key"))]
        self.flags_now = [f"--token-file={self.files.path('tokens')}", "--dashboard", *tls,
                          *self.flags]
        self.broker = self.start_with_dashboard()
        self.browser = self.browser_of(self.broker)

    def write_tokens(self, *names):
        """At once and whole, as the broker may be reading."""
        self.files.write("tokens.new", "".join(f"{self.lines[name]}\n" for name in names))
        os.replace(self.files.path("tokens.new"), self.files.path("tokens"))

    def start_with_dashboard(self, *flags):
        """With TLS nobody asks the gRPC port, whose health the test has no means to ask."""
        return self.start_broker(*self.flags_now, *flags, http=ANY_PORT,
                                 is_awaited=not self.with_tls)

    def browser_of(self, broker):
        host = "localhost" if self.with_tls else "127.0.0.1"
        browser = Browser(f"{host}:{place(broker.http_address)[1]}", self.context)
        self.addCleanup(browser.close)
        return browser
