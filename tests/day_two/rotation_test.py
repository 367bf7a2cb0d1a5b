"""Tokens, keys and passwords are replaced, by the commands of docs/PROCEDURES.md, and no call fails
meanwhile."""

import base64
import json
import os
import pathlib
import subprocess
import time
import unittest

import grpc

import place  # noqa: F401  (first: it finds the others)
from callers import Caller
from machine import WorkerService
from procedure import Procedure
from support import broker as brokers
from support.case import make_database, slow
from support.client import reason_of
from support.load import Load
from support.process import GENEROUS_S

QUEUE = "mail"


class Rotation(Procedure):
    """A machine with a broker, and callers that show something."""

    def setUp(self):
        super().setUp()
        self.database = make_database(self)

    def begin(self, settings="", show=lambda: (None, ())):
        self.machine = self.make_broker_machine(
            self.database, settings="auto-create-queues = true\n" + settings)
        service = self.machine.services["skiplaned"]
        service.start()
        self.environment.update(SKIPLANE_BROKER=service.address, DATABASE=self.database.uri)
        self.callers = [Caller(service.address, QUEUE, show, keeps) for keeps in (False, True)]
        for caller in self.callers:
            self.addCleanup(caller.end)
        self.wait_for_calls()

    def wait_for_calls(self):
        for caller in self.callers:
            caller.wait_for_calls(self)


def bearer(token):
    return (None, (("authorization", f"Bearer {token}"),))


@slow
class Tokens(Rotation):
    HEADINGS = ("Replace a token",)

    def test_both_count_until_the_old_one_is_taken_out(self):
        os.mkdir(self.files.path("dashboard"))
        self.standing_for["/srv/dashboard"] = self.files.path("dashboard")
        old = subprocess.run([brokers.program(), "make-token", "dashboard"], check=True,
                             capture_output=True, text=True).stdout
        self.files.write("dashboard.token", old)
        shown = self.files.write("dashboard/token", old)

        def show():
            with open(shown, encoding="ascii") as file:
                return bearer(file.readline().strip())

        path = self.files.write("tokens", old.splitlines()[1] + "\nother sha256:" + "0" * 64 + "\n")
        self.standing_for["/tokens"] = "/tokens"
        self.begin(f"token-file = {path}\n", show)
        self.standing_for[f"{self.machine.etc}/tokens"] = path
        self.give(0, self.machine)
        self.wait_for_calls()
        self.assertIn("token:dashboard", self.give(1))
        self.wait_for_calls()
        self.assertIn("CREDENTIALS_INVALID", self.give(2, self.machine))
        self.wait_for_calls()
        self.assertEqual(len(self.files.read("tokens").splitlines()), 2)


@slow
class WebTokens(Rotation):
    HEADINGS = ("Replace the keys of JSON Web Tokens",)

    def make_keys(self, name):
        self.openssl("genrsa", "-out", self.files.path(f"{name}.key"), "2048")
        self.openssl("rsa", "-in", self.files.path(f"{name}.key"), "-pubout", "-out",
                     self.files.path(f"{name}.pem"))

    @staticmethod
    def openssl(*arguments, given=None):
        return subprocess.run(["openssl", *arguments], check=True, capture_output=True,
                              input=given).stdout

    def sign(self, name):
        claims = {"iss": "https://idp.example", "aud": "skiplane", "sub": "ann",
                  "exp": int(time.time()) + 600}
        text = ".".join(base64url(json.dumps(part).encode())
                        for part in ({"alg": "RS256"}, claims))
        signature = self.openssl("dgst", "-sha256", "-sign", self.files.path(f"{name}.key"),
                                 given=text.encode())
        return f"{text}.{base64url(signature)}"

    def test_both_count_until_the_old_one_is_taken_out(self):
        for name in ("old", "idp-new"):
            self.make_keys(name)
        os.makedirs(self.files.path("keys"))
        path = self.files.path("keys/idp.pem")
        self.files.put_in_place("keys/idp.pem", "old.pem")
        self.shown = bearer(self.sign("old"))
        self.begin(f"jwt-keys = {path}\njwt-issuer = https://idp.example\n"
                   "jwt-audience = skiplane\n", lambda: self.shown)
        self.standing_for[f"{self.machine.etc}/idp.pem"] = path
        self.give(0, self.machine)
        self.wait_for_calls()
        self.shown = bearer(self.sign("idp-new"))
        self.wait_for_calls()
        self.give(1, self.machine)
        self.wait_for_calls()


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


@slow
class LeaseTokens(Rotation):
    HEADINGS = ("Replace the key of lease tokens",)

    def test_leases_of_the_old_key_are_lost_and_nothing_else(self):
        self.begin()
        client = self.client_of(self.machine)
        done, held = client.lease(QUEUE, worker_id="w", duration=600, max_tasks=2)
        worker, letter = self.start_worker(client)
        self.give(0)
        self.wait_for_calls()
        [new] = client.lease(QUEUE, worker_id="other")
        self.assertEqual(client.ack(new), ["SETTLED"])
        client.ack(done)
        end = time.monotonic() + GENEROUS_S
        with self.assertRaises(grpc.RpcError):  # once the broker has read its keys again
            while time.monotonic() < end:
                client.ack(done)
        self.assert_refused("INVALID_LEASE_TOKEN", client, held)
        worker.process.wait_for_output("INVALID_LEASE_TOKEN")  # while the program runs
        self.assert_runs_again(worker, letter)
        self.assertIn("(1 row)", self.give(1))

    def test_a_worker_that_meets_other_keys_at_another_broker_goes_on(self):
        """Its result, which the old key proves, waited for that broker."""
        self.begin()
        for caller in self.callers:
            caller.end()
        worker, letter = self.start_worker(self.client_of(self.machine))
        service = self.machine.services["skiplaned"]
        service.stop()
        self.database.run("DELETE FROM skiplane.token_key")
        self.files.write("go-on", "")
        worker.process.wait_for_output("no broker was reached")
        service.start()
        self.assert_runs_again(worker, letter)

    def assert_runs_again(self, worker, letter):
        self.files.write("go-on", "")
        self.database.eventually("SELECT count(*) FROM skiplane.attempts WHERE queue = 'letters'"
                                 " AND outcome = 'succeeded'", "1")
        self.assertEqual(self.client_of(self.machine).state(letter), "SUCCEEDED")
        worker.stop()

    def assert_refused(self, reason, client, task):
        with self.assertRaises(grpc.RpcError) as refused:
            client.ack(task)
        self.assertEqual(reason_of(refused.exception), reason)

    def start_worker(self, client):
        """Of a task that it has while the key is replaced."""
        client.create_queue("letters")
        go_on = self.files.path("go-on")
        worker = WorkerService("letters", self.environment,
                               ["sh", "-c", f"until [ -e {go_on} ]; do sleep 0.1; done"],
                               ["--lease-duration", "6s"])
        self.addCleanup(worker.end)
        letter = client.enqueue("letters")
        worker.start()
        self.database.eventually("SELECT leased_count FROM skiplane.queues WHERE queue = 'letters'",
                                 "1")
        return worker, letter


@slow
class Password(Procedure):
    HEADINGS = ("Change the database's password",)

    def test_two_brokers_move_to_another_user_and_callers_notice_nothing(self):
        postgres = self.make_postgres("log_statement = 'all'")
        self.database = database = postgres.make_database()
        self.migrate(database)
        database.run("CREATE ROLE brokers LOGIN PASSWORD 'old' IN ROLE skiplane_broker;"
                     "REVOKE CONNECT ON DATABASE skiplane FROM PUBLIC;"
                     "GRANT CONNECT ON DATABASE skiplane TO brokers")
        access = pathlib.Path(postgres.data, "pg_hba.conf")
        access.write_text("local all postgres trust\nlocal all all scram-sha-256\n",
                          encoding="utf-8")
        database.run("SELECT pg_reload_conf()")
        database.broker_user = "brokers:old"
        machines = [self.make_broker_machine(database, f"machine-{number}",
                                             settings="no-migrate = true\n") for number in range(2)]
        services = [machine.services["skiplaned"] for machine in machines]
        for service in services:
            service.start()
        self.environment["DATABASE"] = database.uri
        self.standing_for["@db.internal/skiplane"] = f"@/skiplane?host={postgres.folder}"
        Load.create_queues(self.client_of(machines[0]))
        load = Load([service.address for service in services])
        self.addCleanup(load.end)
        load.wait_for_acks(50)
        self.give(0)
        password = self.files.read("password").decode().strip()
        for machine, service in zip(machines, services):
            self.standing_for["127.0.0.1:7070"] = service.address
            self.assertIn("serving", self.give(1, machine))
            load.wait_for_acks(50)
        said = self.give(2)
        self.assertRegex(said, r"brokers_2 \| +\d+\n\(1 row\)")
        load.drain()
        load.check(self)
        self.assertLessEqual(set(load.refusals), {"UNAVAILABLE", "CANCELLED"})
        log = pathlib.Path(postgres.data, "start.log").read_text(encoding="utf-8")
        self.assertIn("GRANT CONNECT", log)
        self.assertNotIn(password, log)


if __name__ == "__main__":
    unittest.main()
