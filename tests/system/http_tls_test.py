"""TLS of the HTTP port: the same files as for gRPC, with clients' certificates, and new ones."""

import signal
import socket
import ssl
import subprocess
import unittest

import grpc

from support.folder import Folder
from support.case import SystemTest
from support.client import DEADLINE_S, admin_pb2, admin_pb2_grpc
from support.http import HttpClient, RawHttp, trusting
from support.http_case import ANY_PORT
from support.process import GENEROUS_S


class Tls(SystemTest):
    def setUp(self):
        super().setUp()
        self.files = Folder()
        self.addCleanup(self.files.remove)
        for name in ("server", "other", "client", "stranger"):
            self.files.make_pair(name)

    def start_with_tls(self, *flags):
        """The gRPC port is asked by nobody: its health has no certificate."""
        broker = self.start_broker(f"--tls-cert={self.files.path('server.crt')}",
                                   f"--tls-key={self.files.path('server.key')}", *flags,
                                   http=ANY_PORT, is_awaited=False)
        self.address = "localhost:" + broker.http_address.rsplit(":", 1)[1]
        return broker

    def client_with(self, own=None, server="server"):
        pair = None if own is None else (self.files.path(f"{own}.crt"),
                                         self.files.path(f"{own}.key"))
        client = HttpClient(self.address, trusting(self.files.path(f"{server}.crt"), pair))
        self.addCleanup(client.close)
        return client

    def channel_with(self, own, broker):
        """To the gRPC port."""
        credentials = grpc.ssl_channel_credentials(*(
            self.files.read(name) for name in ("server.crt", f"{own}.key", f"{own}.crt")))
        return grpc.secure_channel("localhost:" + broker.address.rsplit(":", 1)[1], credentials)

    def takes(self, address, suite):
        """Whether the port takes this suite of TLS 1.2."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        context.maximum_version = ssl.TLSVersion.TLSv1_2
        context.set_ciphers(suite)
        context.set_alpn_protocols(["h2", "http/1.1"])
        host, port = address.rsplit(":", 1)
        with socket.create_connection((host, int(port)), GENEROUS_S) as plain:
            try:
                with context.wrap_socket(plain) as wrapped:
                    return wrapped.cipher()[0] == suite
            except (ssl.SSLError, ConnectionError):
                return False

    def test_tls_1_2_has_the_suites_of_the_grpc_port(self):
        """With forward secrecy and authenticated encryption, and no others."""
        rsa = self.files.path("rsa")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
                        "-subj", "/CN=localhost", "-keyout", f"{rsa}.key", "-out", f"{rsa}.crt"],
                       check=True, capture_output=True)
        for pair, taken, refused in (
                ("server", ("ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-ECDSA-AES256-GCM-SHA384"),
                 ("ECDHE-ECDSA-AES128-SHA256", "ECDHE-ECDSA-AES128-SHA")),
                ("rsa", ("ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-RSA-AES256-GCM-SHA384"),
                 ("AES128-GCM-SHA256", "AES128-SHA", "ECDHE-RSA-AES128-SHA256"))):
            broker = self.start_with_tls(f"--tls-cert={self.files.path(pair)}.crt",
                                         f"--tls-key={self.files.path(pair)}.key")
            for address in (broker.address, broker.http_address):
                for suite in (*taken, *refused):
                    with self.subTest(suite, address=address):
                        self.assertEqual(self.takes(address, suite), suite in taken)

    def test_calls_are_answered_by_tls_only(self):
        self.start_with_tls()
        self.assertEqual(self.client_with().call("AdminService/ListQueues", {}).status, 200)
        plain = RawHttp(self.address)
        self.addCleanup(plain.close)
        plain.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        self.assertNotIn(b"HTTP/", plain.read_to_end())
        with self.assertRaises(ssl.SSLError):
            self.client_with(server="other").request("GET", "/healthz")

    def test_clients_need_a_certificate_of_the_authority_and_are_named_by_it(self):
        broker = self.start_with_tls(f"--tls-client-ca={self.files.path('client.crt')}")
        for own in (None, "stranger"):
            with self.assertRaises((ssl.SSLError, ConnectionError)):
                self.client_with(own).request("GET", "/healthz")
        self.create_by_both(broker, "client")
        actors = self.database.run("SELECT actor FROM skiplane.audit ORDER BY id")
        self.assertEqual(actors, [("certificate:localhost",)] * 2)

    def test_the_log_says_whose_certificate_has_expired(self):
        self.files.sign("late", "client", lasts_s=-60)
        broker = self.start_with_tls(f"--tls-client-ca={self.files.path('client.crt')}")
        with self.assertRaises((ssl.SSLError, ConnectionError)):
            self.client_with("late").request("GET", "/healthz")
        broker.wait_for_output(" warn handshakes_failed peer=ipv4:127.0.0.1:")
        self.assertIn('why="certificate has expired"', broker.output)

    def test_a_certificate_that_expires_proves_nothing_more_on_an_open_connection(self):
        """Sessions of TLS could be taken up again, and open connections be kept, for ever."""
        broker = self.start_with_tls(f"--tls-client-ca={self.files.path('client.crt')}")
        self.files.sign("brief", "client", lasts_s=6)
        client = self.client_with("brief")
        with self.channel_with("brief", broker) as channel:
            calls = {
                "http": lambda: client.call("AdminService/WhoAmI", {}).body.decode(),
                "grpc": lambda: self.said_by(admin_pb2_grpc.AdminServiceStub(channel))}
            first = {port: call() for port, call in calls.items()}
            last = dict(first)
            while first["http"] == last["http"] or first["grpc"] == last["grpc"]:
                last = {port: call() for port, call in calls.items()}
        for port in calls:
            self.assertIn("certificate:brief", first[port])
            self.assertIn("the client certificate has expired", last[port])

    @staticmethod
    def said_by(admin):
        try:
            return str(admin.WhoAmI(admin_pb2.WhoAmIRequest(), timeout=DEADLINE_S))
        except grpc.RpcError as error:
            return error.details()

    def test_a_stranger_who_speaks_no_tls_writes_nothing_into_the_log(self):
        broker = self.start_with_tls()
        plain = RawHttp(self.address)
        self.addCleanup(plain.close)
        plain.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        plain.read_to_end()
        self.assertNotIn(" handshakes_failed ", broker.output)

    def create_by_both(self, broker, own):
        """A queue by each port, with the certificate of that name."""
        client = self.client_with(own)
        self.assertEqual(client.call("AdminService/CreateQueue", {"name": "http"}).status, 200)
        with self.channel_with(own, broker) as channel:
            admin_pb2_grpc.AdminServiceStub(channel).CreateQueue(
                admin_pb2.CreateQueueRequest(name="grpc"), timeout=DEADLINE_S)

    def test_an_authority_that_another_has_signed_is_trusted_by_itself(self):
        self.files.sign("middle", "client", "basicConstraints=critical,CA:TRUE")
        self.files.sign("leaf", "middle", "subjectAltName=DNS:leaf.example")
        broker = self.start_with_tls(f"--tls-client-ca={self.files.path('middle.crt')}")
        self.create_by_both(broker, "leaf")
        actors = self.database.run("SELECT actor FROM skiplane.audit ORDER BY id")
        self.assertEqual(actors, [("certificate:leaf.example",)] * 2)

    def test_clients_are_told_whose_certificates_are_taken(self):
        self.files.sign("middle", "client", "basicConstraints=critical,CA:TRUE")
        self.start_with_tls(f"--tls-client-ca={self.files.path('middle.crt')}")
        told = subprocess.run(["openssl", "s_client", "-connect", self.address],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=GENEROUS_S, check=False).stdout
        self.assertRegex(told, r"Acceptable client certificate CA names\nCN ?= ?middle\n")

    def test_new_files_serve_new_connections_and_old_ones_live_on(self):
        broker = self.start_with_tls()
        old = self.client_with()
        self.assertEqual(old.request("GET", "/healthz").status, 200)
        for end in ("crt", "key"):
            self.files.write(f"server.{end}", self.files.read(f"other.{end}").decode())
        broker.signal(signal.SIGHUP)
        broker.wait_for_output(" reloaded ")
        self.assertEqual(self.client_with(server="other").request("GET", "/healthz").status, 200)
        self.assertEqual(old.request("GET", "/healthz").status, 200)


if __name__ == "__main__":
    unittest.main()
