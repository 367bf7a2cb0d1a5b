"""Secrets are planted everywhere, every way to an error is taken, and then they are looked for: in
the log at its most talkative, on the metrics page, in answers, among the processes, and in what
PostgreSQL writes down by itself."""

import base64
import os
import re
import signal
import subprocess
import time
import unittest

import grpc

from support import broker as brokers
from support import canary, cli, cluster
from support.case import SystemTest, slow
from support.client import (DEADLINE_S, admin_pb2, answers_stream, broker_pb2, seconds,
                            takes_stream, task_pb2)
from support.database import Database
from support.folder import Folder
from support.http import HttpClient, RawHttp, post
from support.http_case import ANY_PORT
from support.process import GENEROUS_S

QUEUE = "private"
TRIES = 1000
PASSWORD = f"{canary.CANARY}_password"
SERVICES = [broker_pb2.DESCRIPTOR.services_by_name["BrokerService"],
            admin_pb2.DESCRIPTOR.services_by_name["AdminService"]]
# What a caller may show, and must not see again: nothing, a right token, and all kinds of others.
WRONG = [f"Bearer skt_{canary.CANARY}", f"Bearer {canary.CANARY}.{canary.CANARY}.{canary.CANARY}",
         f"Basic {canary.CANARY}", f"Bearer {canary.CANARY} {canary.CANARY}", canary.CANARY]


class Server(cluster.Cluster):
    """Asks the role of the broker for a password."""

    def __init__(self, rules):
        with open(rules, "w", encoding="ascii") as file:
            file.write("local all canary_role scram-sha-256\nlocal all all trust\n")
        os.chmod(rules, 0o644)
        super().__init__(settings=[f"hba_file = '{rules}'"])


class CanaryTest(SystemTest):
    is_migrated = False

    def setUp(self):
        super().setUp()
        self.files = Folder(for_all=True)
        self.addCleanup(self.files.remove)
        self.server = Server(self.files.path("hba"))
        self.addCleanup(self.server.end)
        self.database = Database(self.server)
        self.database.run(f"CREATE ROLE canary_role LOGIN SUPERUSER PASSWORD '{PASSWORD}'")
        uri = self.database.uri_as(f"canary_role:{PASSWORD}")
        self.uri_file = self.files.write("uri", f"{uri}\n")

    def start_private(self, *flags):
        """A broker that knows a token, at its most talkative."""
        line = subprocess.run([brokers.program(), "make-token", "ci"], check=True,
                              capture_output=True, text=True).stdout.splitlines()
        self.token = line[0]
        self.tokens = self.files.write("tokens", f"{line[1]}\n")
        broker = brokers.Broker(f"--database-file={self.uri_file}", "--log-level=debug",
                                f"--token-file={self.tokens}", *flags, http=ANY_PORT)
        self.addCleanup(broker.end)
        self.broker = broker
        return broker

    def assert_silent(self, *texts):
        page = str(self.broker.metrics()) if self.broker.runs() else ""
        places = {"the log": self.broker.output, "the page": page,
                  "PostgreSQL's log": self.server.log(), "processes": self.processes(),
                  "answers": b"\n".join(texts)}
        self.assertGreater(len(places["the log"]), 1000)
        for name, text in places.items():
            # The role's name is no secret.
            found = [line for line in canary.found_in(text) if line.count(b"canary") !=
                     line.count(b"canary_role")]
            self.assertEqual(found, [], f"in {name}")

    @staticmethod
    def processes():
        """The command lines of brokers, callers and PostgreSQL, as everybody sees them. Those of
        who runs the tests may name this one."""
        lines = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/cmdline", "rb") as file:
                    lines.append(file.read().replace(b"\0", b" "))
            except OSError:
                continue
        ours = re.compile(rb"(\S*/)?(skiplane\w*|postgres)[: ]")
        return b"\n".join(filter(ours.match, lines))


class Search(unittest.TestCase):
    def test_a_canary_is_found_in_each_form(self):
        secret = b"xcanaryx"
        for before in range(3):
            for form in (secret, secret.hex().encode(), base64.b64encode(b"-" * before + secret)):
                self.assertEqual(canary.found_in(b"a line\nb " + form), [b"b " + form])
        self.assertEqual(canary.found_in("a line\nof a can"), [])


class Calls(CanaryTest):
    def each_request(self):
        """Each method with texts in every field but names of queues and stages, which are on the
        metrics page; once of a queue that there is."""
        for kept in ({"name": "public"}, {"name": QUEUE, "queue": QUEUE}):
            for service in SERVICES:
                for method in service.methods:
                    request = canary.fill(method.input_type._concrete_class(), kept)
                    yield service.name, method, request

    def by_grpc(self, channel, service, method, data, shown):
        metadata = [("authorization", shown)] if shown else []
        path = f"/skiplane.v1.{service}/{method.name}"
        try:
            if takes_stream(method):
                return b"".join(channel.stream_stream(path)(iter([data]), timeout=DEADLINE_S,
                                                            metadata=metadata))
            if answers_stream(method):
                return b"".join(channel.unary_stream(path)(data, timeout=DEADLINE_S,
                                                           metadata=metadata))
            return channel.unary_unary(path)(data, timeout=DEADLINE_S, metadata=metadata)
        except grpc.RpcError as error:
            return repr(error).encode()

    @staticmethod
    def status_for_strangers(method):
        if takes_stream(method):
            return 404
        return 415 if answers_stream(method) else 401

    def test_every_method_with_every_field_and_every_kind_of_credentials(self):
        broker = self.start_private()
        right = f"Bearer {self.token}"
        http = HttpClient(broker.http_address)
        self.addCleanup(http.close)
        http.call("AdminService/CreateQueue", {"name": QUEUE}, Authorization=right)
        answers = []
        with grpc.insecure_channel(broker.address) as channel:
            for service, method, request in self.each_request():
                data = request.SerializeToString()
                for shown in (right, None, *WRONG):
                    said = self.by_grpc(channel, service, method, data, shown)
                    fields = {} if shown is None else {"Authorization": shown}
                    other = http.call(f"{service}/{method.name}", request, **fields)
                    if shown != right:  # else it is told what is wrong with its own words
                        self.assertIn(b"UNAUTHENTICATED", said)
                        self.assertEqual(other.status, self.status_for_strangers(method))
                        answers += [said, other.body]
                self.by_grpc(channel, service, method, b"\xff" + b"canary" * 3, right)
                http.call(f"{service}/{method.name}", b'{"canary": "canary"', Authorization=right)
        self.assertNotIn(self.token, broker.output)
        self.assert_silent(*answers)

    def test_requests_that_are_none(self):
        broker = self.start_private()
        for start in (b"GET /canary?canary=canary HTTP/1.1\r\nCookie: canary\r\nHost: canary\r\n",
                      b"CANARY canary canary\r\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\ncanary",
                      b"\x16\x03\x01\x02\x00canary", post("BrokerService/canary", "{}"),
                      post("BrokerService/Enqueue", "{}", "canary"),
                      post("BrokerService/Enqueue", "{}", "Content-Encoding: canary"),
                      post("BrokerService/Enqueue", "{}", "Origin: https://canary.example")):
            for address in (broker.address, broker.http_address, broker.metrics_address):
                raw = self.raw_at(address)
                raw.send(start, b"\r\n\r\n")
                raw.end_sending()
                raw.read_to_end()
        self.assert_silent()

    def raw_at(self, address):
        raw = RawHttp(address)
        self.addCleanup(raw.close)
        return raw


@slow
class Life(CanaryTest):
    def secret_client(self):
        self.broker.metrics()
        return self.client_of(self.broker)

    def start_open(self, *flags):
        self.broker = brokers.Broker(f"--database-file={self.uri_file}", "--log-level=debug",
                                     *flags, http=ANY_PORT)
        self.addCleanup(self.broker.end)
        return self.secret_client()

    def live(self, client):
        """A task that is retried, fails, is looked at by operators and runs again."""
        make = client.new_task
        client.enqueue_all(QUEUE, [make(b"canary_payload", key="canary_key", content_type="canary",
                                        headers={"canary_header": "canary_value"},
                                        max_attempts=2)] * 2, request_id="canary_request")
        error = task_pb2.TaskError(type="canary_type", text=b"canary_text",
                                   fingerprint="canary_print")
        [task] = client.lease(QUEUE, worker_id="canary_worker", worker_name="canary_name",
                              request_id="canary_lease")
        client.heartbeat("canary_worker", 30, task,
                         progress=task_pb2.TaskProgress(message="canary_message"))
        client.nack(task, error=error, retry_delay=seconds(0))
        client.nack(client.lease(QUEUE)[0], error=error)
        client.admin.ListTasks(admin_pb2.ListTasksRequest(filter={"queue": QUEUE},
                                                          view="TASK_VIEW_FULL"), timeout=90)
        client.admin.RetryErrorGroup(admin_pb2.RetryErrorGroupRequest(
            queue=QUEUE, fingerprint="canary_print", request_id="canary_change",
            wait=seconds(60)), timeout=90)
        client.ack_results(client.lease(QUEUE)[0], result=b"canary_result", follow_ups=[
            make(b"canary_next", key="canary_next", queue=QUEUE)])

    def test_a_life_with_a_database_that_refuses_in_every_way(self):
        client = self.start_open()
        client.create_queue(QUEUE, keep_payloads=True, keep_results=True)
        self.live(client)
        for ruin, mend in (
                ("ALTER ROLE canary_role PASSWORD 'other'",
                 f"ALTER ROLE canary_role PASSWORD '{PASSWORD}'"),
                ("ALTER ROLE canary_role NOLOGIN", "ALTER ROLE canary_role LOGIN"),
                ("ALTER ROLE canary_role SET default_transaction_read_only = on",
                 "ALTER ROLE canary_role RESET default_transaction_read_only"),
                ("ALTER TABLE skiplane.task RENAME TO away",
                 "ALTER TABLE skiplane.away RENAME TO task"),
                ("ALTER ROLE canary_role NOSUPERUSER; REVOKE ALL ON skiplane.task FROM canary_role",
                 "ALTER ROLE canary_role SUPERUSER; GRANT ALL ON skiplane.task TO canary_role")):
            with self.subTest(ruin):
                self.database.run(ruin)
                self.database.run("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
                                  " WHERE usename = 'canary_role'")
                request = broker_pb2.EnqueueRequest(queue=QUEUE, tasks=[client.new_task(
                    b"canary_payload", key="canary_other", headers={"canary_h": "canary_v"})])
                with self.assertRaises(grpc.RpcError) as refusal:
                    for _ in range(TRIES):  # until the broker has noticed
                        client.broker.Enqueue(request, timeout=DEADLINE_S)
                for word in ("canary", "SELECT", "INSERT", self.server.folder):
                    self.assertNotIn(word, refusal.exception.details())
                self.database.run(mend)
                self.database.run("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
                                  " WHERE usename = 'canary_role'")
                self.wait_for_database(client)
        self.assert_silent()

    def wait_for_database(self, client):
        end = time.monotonic() + GENEROUS_S
        while True:
            try:
                return client.enqueue(QUEUE, b"canary_payload")
            except grpc.RpcError as error:
                self.assertLess(time.monotonic(), end, error)

    def test_what_a_crash_leaves(self):
        for number in (signal.SIGKILL, signal.SIGABRT, signal.SIGSEGV):
            client = self.start_open()
            if number == signal.SIGKILL:
                client.create_queue(QUEUE)
            client.enqueue(QUEUE, b"canary_payload")
            client.lease(QUEUE, worker_id="canary_worker")
            if number == signal.SIGSEGV and self.broker.is_sanitized():
                continue  # it reports that itself
            self.broker.signal(number)
            self.assertEqual(self.broker.wait(), -number)
            self.assert_silent()


@slow
class Files(CanaryTest):
    """Of settings, tokens and keys that are none: each line may hold what is meant to be secret."""

    def setUp(self):
        super().setUp()
        for name in ("server", "other"):
            self.files.make_pair(name)
        key = self.files.read("other.key").decode()
        self.secret = key.splitlines()[2]
        path = self.files.path
        self.flags = {"tls-cert": path("server.crt"), "tls-key": path("server.key"),
                      "tls-client-ca": path("server.crt"), "token-file": path("tokens"),
                      "rules-file": path("rules"), "jwt-keys": path("jwks")}
        self.files.write("tokens", f"ci sha256:{'0' * 64}\n")
        self.files.write("rules", "allow everyone to all on *\n")
        self.files.write("jwks", self.files.read("server.crt").decode())
        subprocess.run(["openssl", "pkey", "-in", path("server.key"), "-pubout", "-out",
                        path("jwks")], check=True, capture_output=True)
        self.broken = {
            "tls-cert": key, "tls-key": key.replace("PRIVATE", "canary"), "tls-client-ca": key,
            "token-file": f"ci sha256:{'0' * 64}\ncanary skt_canary\n", "jwt-keys": key,
            "rules-file": "allow token:canary to canary on canary\n"}

    def flag_list(self):
        return [f"--{name}={path}" for name, path in self.flags.items()] + [
            "--jwt-issuer=https://idp.example", "--jwt-audience=skiplane"]

    def assert_tells_nothing(self, output, name):
        self.assertGreater(len(output), 20)
        if name != "rules-file":  # whose lines are no secrets, and are shown to who mends them
            self.assertEqual(canary.found_in(output.replace("canary_role", "")), [], name)
        self.assertNotIn(self.secret, output)

    def test_a_broken_file_at_the_start_and_in_a_check(self):
        for name, text in self.broken.items():
            path = self.files.write("broken", text)
            flags = [f"--{name}={path}" if flag.startswith(f"--{name}=") else flag
                     for flag in self.flag_list()]
            for command in ([], ["check-config"]):
                with self.subTest(name, command=command):
                    said = subprocess.run(
                        [brokers.program(), *command, f"--database-file={self.uri_file}",
                         "--listen=127.0.0.1:0", "--metrics-listen=off", *flags], check=False,
                        capture_output=True, text=True, timeout=GENEROUS_S)
                    self.assertNotEqual(said.returncode, 0, said.stdout + said.stderr)
                    self.assert_tells_nothing(said.stdout + said.stderr, name)

    def test_a_broken_file_in_a_reload(self):
        broker = self.broker = brokers.Broker(
            f"--database-file={self.uri_file}", "--log-level=debug", *self.flag_list(),
            is_awaited=False)
        self.addCleanup(broker.end)
        for count, (name, text) in enumerate(self.broken.items(), 1):
            path = self.flags[name]
            with open(path, encoding="utf-8") as file:
                good = file.read()
            self.files.write(os.path.basename(path), text)
            broker.signal(signal.SIGHUP)
            broker.wait_for_output("reload_failed", times=count)
            self.files.write(os.path.basename(path), good)
        self.assertNotIn(self.secret, broker.output)
        lines = [line for line in canary.found_in(broker.output) if b"rules" not in line]
        self.assertEqual(lines, [])

    def test_settings_that_are_wrong(self):
        uri = f"postgresql://canary_role:{PASSWORD}@/x"
        for text in (f"databse = {uri}\n", f"database {uri}\n",
                     f"[{uri}]\n", f"database-file = {uri}\n", f'database = "{uri}\n',
                     f"listen = {uri}\n", f"database = {uri}\ndatabase-connections = {uri}\n",
                     f"database = {PASSWORD}\n"):
            path = self.files.write("settings", text)
            for command in ([], ["check-config"]):
                with self.subTest(text, command=command):
                    said = subprocess.run(
                        [brokers.program(), *command, f"--config={path}"], check=False,
                        capture_output=True, text=True, timeout=GENEROUS_S)
                    self.assertNotEqual(said.returncode, 0)
                    self.assert_tells_nothing(said.stdout + said.stderr, text)

    def test_a_wrong_token_at_the_command_line(self):
        for text in ("canary\n", "skt_canary canary\n", "canary\xe4\n", "canary\tcanary\n"):
            path = self.files.write("secret", text)
            said = subprocess.run(
                [cli.program(), "whoami", f"--token-file={path}", "--broker=127.0.0.1:1",
                 "--timeout=1s"], check=False, capture_output=True, text=True, timeout=GENEROUS_S)
            self.assertNotEqual(said.returncode, 0)
            self.assertEqual(canary.found_in(said.stdout + said.stderr), [])


if __name__ == "__main__":
    unittest.main()
