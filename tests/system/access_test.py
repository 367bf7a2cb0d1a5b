"""Who calls: bearer tokens and certificates, by gRPC and by HTTP."""

import os
import signal
import ssl
import subprocess
import threading
import time
import unittest

import grpc

from support import cli
from support.broker import SERVING, check, program
from support.case import SystemTest, slow
from support.client import (DEADLINE_S, admin_pb2, admin_pb2_grpc, broker_pb2, is_stream,
                            reason_of)
from support.folder import Folder
from support.http import HttpClient, trusting
from support.http_case import ANY_PORT
from support.process import GENEROUS_S

SERVICES = [broker_pb2.DESCRIPTOR.services_by_name["BrokerService"],
            admin_pb2.DESCRIPTOR.services_by_name["AdminService"]]
METHODS = [(service.name, method.name) for service in SERVICES for method in service.methods
           if not is_stream(method)]
ROTATIONS = 100


def make_token(name, *groups):
    """A bearer token, and its line for the file."""
    said = subprocess.run([program(), "make-token", name, *groups], check=True,
                          capture_output=True, text=True).stdout
    return said.splitlines()


class AccessTest(SystemTest):
    def setUp(self):
        super().setUp()
        self.files = Folder()
        self.addCleanup(self.files.remove)

    def serve(self, *flags, **options):
        self.broker = self.start_broker(*flags, http=ANY_PORT, **options)
        self.channel = grpc.insecure_channel(self.broker.address)
        self.addCleanup(self.channel.close)
        self.http = HttpClient(self.broker.http_address)
        self.addCleanup(self.http.close)

    def by_grpc(self, token=None, service="AdminService", method="ListQueues", extra=()):
        """The reason for which the call is refused; none if it is not."""
        metadata = list(extra) + ([] if token is None else [("authorization", f"Bearer {token}")])
        try:
            self.channel.unary_unary(f"/skiplane.v1.{service}/{method}")(
                b"", timeout=DEADLINE_S, metadata=metadata)
        except grpc.RpcError as error:
            if error.code() == grpc.StatusCode.UNAUTHENTICATED:
                return reason_of(error)
            # An empty request is no good one, but it was looked at.
            self.assertEqual(error.code(), grpc.StatusCode.INVALID_ARGUMENT, error)
        return None

    def by_http(self, token=None, service="AdminService", method="ListQueues"):
        fields = {} if token is None else {"Authorization": f"Bearer {token}"}
        answer = self.http.call(f"{service}/{method}", {}, **fields)
        self.assertIn(answer.status, (200, 400, 401))
        self.assertEqual(answer.headers["WWW-Authenticate"],
                         "Bearer" if answer.status == 401 else None)
        return answer.reason() if answer.status == 401 else None

    def by_both(self, *arguments):
        """The same by gRPC and by HTTP."""
        said = self.by_grpc(*arguments)
        self.assertEqual(self.by_http(*arguments), said)
        return said

    def wait_until_said(self, reason, token):
        end = time.monotonic() + GENEROUS_S
        while self.by_grpc(token) != reason:
            self.assertLess(time.monotonic(), end, self.broker.output)
        self.assertEqual(self.by_http(token), reason)


class Tokens(AccessTest):
    def setUp(self):
        super().setUp()
        self.token, self.line = make_token("ci", "builders")
        self.path = self.files.write("tokens", f"# of the tests\n{self.line}\n")
        self.serve(f"--token-file={self.path}")

    def test_every_method_asks_who_calls(self):
        self.assertGreater(len(METHODS), 25)
        for service, method in METHODS:
            with self.subTest(method=method):
                self.assertEqual(self.by_both(None, service, method), "CREDENTIALS_MISSING")
                self.assertIsNone(self.by_both(self.token, service, method))

    def test_a_token_that_is_not_there_is_refused_and_repeated_nowhere(self):
        other, _ = make_token("ci")
        for token in (other, self.token[:-1], self.token.upper(), "x", "a.b.c", ""):
            with self.subTest(token=token):
                self.assertEqual(self.by_both(token), "CREDENTIALS_INVALID")
        self.assertEqual(self.by_grpc(extra=[("authorization", f"Basic {self.token}")]),
                         "CREDENTIALS_INVALID")
        for two in ((self.token, "x"), ("x", self.token), (self.token, self.token)):
            self.assertEqual(self.by_grpc(extra=[("authorization", f"Bearer {token}")
                                                 for token in two]), "CREDENTIALS_INVALID")
        for secret in (self.token, other):
            self.assertNotIn(secret, self.broker.output)

    def test_by_http_a_stranger_is_told_before_its_body_is_looked_at(self):
        for body in ("{", "x" * 100_000, b"\x1f\x8b"):
            answer = self.http.call("AdminService/ListQueues", body, Content_Encoding="gzip")
            self.assertEqual((answer.status, answer.reason()), (401, "CREDENTIALS_MISSING"))
        self.assertEqual(
            self.broker.metrics()['skiplane_http_refused_requests_total{reason="caller"}'], 3)

    def test_a_file_under_another_name_is_followed_from_then_on(self):
        settings = self.files.write("settings", f"token-file = {self.path}\n")
        self.broker.terminate()
        self.serve(f"--config={settings}")
        token, line = make_token("deploy")
        other = self.files.write("others", f"{line}\n")
        self.files.write("settings", f"token-file = {other}\n")
        self.broker.signal(signal.SIGHUP)
        self.broker.wait_for_output(" reloaded ")
        self.assertIsNone(self.by_both(token))
        self.files.write("others", f"{self.line}\n")
        self.wait_until_said("CREDENTIALS_INVALID", token)
        self.assertIsNone(self.by_both(self.token))

    def test_health_and_pages_need_none(self):
        self.assertEqual(check(self.channel), SERVING)
        for page in ("/healthz", "/readyz", "/metrics"):
            self.assertEqual(self.http.request("GET", page).status, 200)

    def test_the_audit_has_the_principal_and_what_the_caller_says_beside_it(self):
        stub = admin_pb2_grpc.AdminServiceStub(self.channel)
        for name, actor in (("q1", "root"), ("q2", None)):
            said = [] if actor is None else [("skiplane-actor", actor)]
            stub.CreateQueue(admin_pb2.CreateQueueRequest(name=name), timeout=DEADLINE_S,
                             metadata=[("authorization", f"Bearer {self.token}"), *said])
        self.http.call("AdminService/CreateQueue", {"name": "q3"},
                       Authorization=f"Bearer {self.token}", Skiplane_Actor="root")
        self.assertEqual(self.database.run("SELECT actor, claimed_actor FROM skiplane.audit"
                                           " ORDER BY id"),
                         [("token:ci", "root"), ("token:ci", ""), ("token:ci", "root")])

    def test_the_command_line_sends_a_token(self):
        secret = self.files.write("secret", f"{self.token}\n")
        environment = {"SKIPLANE_BROKER": self.broker.address}
        for options, code in ((["--token-file", secret], 0), ([], 1)):
            said = subprocess.run([cli.program(), "whoami", *options], env=environment,
                                  capture_output=True, text=True, timeout=GENEROUS_S, check=False)
            self.assertEqual(said.returncode, code, said.stderr)
            self.assertNotIn(self.token, said.stdout + said.stderr)
            if code == 0:
                self.assertEqual(said.stdout.splitlines()[:3],
                                 ["token:ci", "in group builders", "may enqueue on *"])
            else:
                self.assertIn("(CREDENTIALS_MISSING)", said.stderr)
        missing = subprocess.run([cli.program(), "whoami", "--token-file", "/nonexistent"],
                                 env=environment, capture_output=True, text=True, check=False)
        self.assertEqual(missing.returncode, 5, missing.stderr)

    def test_a_file_that_changes_counts_without_a_signal_and_a_bad_one_changes_nothing(self):
        token, line = make_token("deploy")
        self.files.write("tokens", f"{line}\n")
        self.wait_until_said("CREDENTIALS_INVALID", self.token)
        self.assertIsNone(self.by_both(token))
        self.files.write("tokens", f"{line}\nnot a line\n")
        self.broker.wait_for_output("reload_failed")
        self.assertIn(f"{self.path} line 2", self.broker.output)
        self.assertIsNone(self.by_both(token))


class Certificates(AccessTest):
    """With --tls-client-certificate=optional: some callers have a certificate, others a token."""

    def setUp(self):
        super().setUp()
        for name in ("server", "client", "stranger"):
            self.files.make_pair(name)
        self.token, line = make_token("ci")
        path = self.files.path
        broker = self.start_broker(
            f"--tls-cert={path('server.crt')}", f"--tls-key={path('server.key')}",
            f"--tls-client-ca={path('client.crt')}", "--tls-client-certificate=optional",
            f"--token-file={self.files.write('tokens', line)}", http=ANY_PORT, is_awaited=False)
        self.grpc, self.http = ("localhost:" + address.rsplit(":", 1)[1]
                                for address in (broker.address, broker.http_address))

    def who_by_grpc(self, own, token):
        pair = [self.files.read(f"{own}.{end}") for end in ("key", "crt")] if own else []
        credentials = grpc.ssl_channel_credentials(self.files.read("server.crt"), *pair)
        metadata = [("authorization", f"Bearer {token}")] if token else []
        with grpc.secure_channel(self.grpc, credentials) as channel:
            try:
                return admin_pb2_grpc.AdminServiceStub(channel).WhoAmI(
                    admin_pb2.WhoAmIRequest(), timeout=DEADLINE_S, metadata=metadata).principal
            except grpc.RpcError as error:
                return reason_of(error)

    def who_by_http(self, own, token):
        pair = [self.files.path(f"{own}.{end}") for end in ("crt", "key")] if own else None
        client = HttpClient(self.http, trusting(self.files.path("server.crt"), pair))
        self.addCleanup(client.close)
        fields = {"Authorization": f"Bearer {token}"} if token else {}
        answer = client.call("AdminService/WhoAmI", {}, **fields)
        return answer.json()["principal"] if answer.status == 200 else answer.reason()

    def test_each_caller_is_known_by_what_it_shows(self):
        for who in (self.who_by_grpc, self.who_by_http):
            self.assertEqual(who("client", None), "certificate:localhost")
            self.assertEqual(who(None, self.token), "token:ci")
            self.assertEqual(who("client", self.token), "token:ci")  # as of a proxy for others
            self.assertEqual(who("client", "wrong"), "CREDENTIALS_INVALID")
            self.assertEqual(who("client", " "), "CREDENTIALS_INVALID")  # nor an empty one
            self.assertEqual(who(None, None), "CREDENTIALS_MISSING")

    def test_a_certificate_of_strangers_gets_no_connection(self):
        self.assertEqual(self.who_by_grpc("stranger", self.token), "")
        with self.assertRaises((ssl.SSLError, ConnectionError)):
            self.who_by_http("stranger", self.token)


class Rotations(AccessTest):
    """Certificates, authorities, tokens, keys of web tokens and rules are replaced under load."""

    def setUp(self):
        super().setUp()
        self.files.make_pair("authority")
        for number in range(3):
            os.mkdir(self.files.path(f"pair{number}"))
            self.files.sign(f"pair{number}/server", "authority", "subjectAltName=DNS:localhost")
            self.files.make_pair(f"clients{number}")
        self.files.sign("caller", "authority", "subjectAltName=DNS:caller")
        self.token, self.line = make_token("ci")
        self.replace(0)
        path = self.files.path
        self.broker = self.start_broker(
            f"--tls-cert={path('pair/server.crt')}", f"--tls-key={path('pair/server.key')}",
            f"--tls-client-ca={path('authorities.crt')}", "--tls-client-certificate=optional",
            f"--token-file={path('tokens')}", f"--rules-file={path('rules')}",
            http=ANY_PORT, is_awaited=False)
        self.failures, self.calls, self.is_over = [], 0, False

    def replace(self, number):
        """Everything but what the callers need."""
        texts = {"authorities.crt": self.files.read("authority.crt").decode()
                 + self.files.read(f"clients{number % 3}.crt").decode(),
                 "tokens": f"{self.line}\n{make_token('other')[1]}\n",
                 "rules": f"allow everyone to read on *\nallow token:x{number} to lease on *\n"}
        for name, text in texts.items():
            self.files.write("text", text)
            self.files.put_in_place(name, "text")
        # Both at once, as mounted secrets are: the broker may look at any moment.
        os.symlink(self.files.path(f"pair{number % 3}"), self.files.path("next"))
        os.replace(self.files.path("next"), self.files.path("pair"))

    def call_for_ever(self, call):
        while not self.is_over:
            try:
                call()
                self.calls += 1
            except Exception as error:  # what it was is told by the assertion
                self.failures.append(repr(error))

    def by_grpc_anew(self):
        """A connection for each few calls, so that new certificates are seen."""
        pair = (self.files.read("caller.key"), self.files.read("caller.crt"))
        credentials = grpc.ssl_channel_credentials(self.files.read("authority.crt"), *pair)
        address = "localhost:" + self.broker.address.rsplit(":", 1)[1]
        with grpc.secure_channel(address, credentials, [("grpc.use_local_subchannel_pool", 1)]
                                 ) as channel:
            stub = admin_pb2_grpc.AdminServiceStub(channel)
            for metadata in ((), [("authorization", f"Bearer {self.token}")]):
                stub.ListQueues(admin_pb2.ListQueuesRequest(), timeout=DEADLINE_S,
                                metadata=metadata)

    def by_http_anew(self):
        address = "localhost:" + self.broker.http_address.rsplit(":", 1)[1]
        client = HttpClient(address, trusting(self.files.path("authority.crt")))
        try:
            answer = client.call("AdminService/ListQueues", {},
                                 Authorization=f"Bearer {self.token}")
            if answer.status != 200:
                raise AssertionError(answer.body)
        finally:
            client.close()

    @slow
    def test_a_hundred_rotations_fail_no_call(self):
        threads = [threading.Thread(target=self.call_for_ever, args=(call,))
                   for call in (self.by_grpc_anew, self.by_http_anew)]
        for thread in threads:
            thread.start()
        try:
            for number in range(1, ROTATIONS + 1):
                self.replace(number)
                seen = self.broker.output.count(" reloaded ")
                self.broker.signal(signal.SIGHUP)
                self.broker.wait_for_output(" reloaded ", times=seen + 1)
        finally:
            self.is_over = True
            for thread in threads:
                thread.join()
        self.assertEqual(self.failures, [])
        self.assertGreater(self.calls, ROTATIONS)
        self.assertNotIn("reload_failed", self.broker.output)


class Open(AccessTest):
    def refusal(self, *flags):
        done = subprocess.run([program(), f"--database={self.database.uri}", *flags], check=False,
                              capture_output=True, text=True, timeout=GENEROUS_S)
        self.assertEqual(done.returncode, 2, done.stderr)
        return done.stderr

    def test_a_port_that_others_reach_needs_credentials_or_the_word_that_it_is_open(self):
        for flag in ("--listen", "--http-listen"):
            self.assertIn(f"{flag}: other machines reach this address",
                          self.refusal(f"{flag}=0.0.0.0:0"))

    def test_without_credentials_everybody_on_this_machine_may_call(self):
        self.serve()
        self.assertIsNone(self.by_both())
        self.assertIn("access=open", self.broker.output)


if __name__ == "__main__":
    unittest.main()
