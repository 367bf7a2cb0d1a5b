"""The ground of tests by HTTP: a broker with an HTTP port, a client of it, and one of gRPC."""

import time

from support.case import SystemTest
from support.http import HttpClient, RawHttp
from support.process import GENEROUS_S

ANY_PORT = "127.0.0.1:0"


class HttpTest(SystemTest):
    flags = ()

    def setUp(self):
        super().setUp()
        self.broker = self.start_broker(*self.flags, http=ANY_PORT)
        self.client = self.client_of(self.broker)
        self.http = self.http_client()

    def http_client(self):
        client = HttpClient(self.broker.http_address)
        self.addCleanup(client.close)
        return client

    def raw(self, source=""):
        """A connection that sends what it likes."""
        raw = RawHttp(self.broker.http_address, source=source)
        self.addCleanup(raw.close)
        return raw

    def wait_until(self, is_so, what):
        end = time.monotonic() + GENEROUS_S
        while not is_so():
            self.assertLess(time.monotonic(), end, f"not within {GENEROUS_S} s: {what}")
