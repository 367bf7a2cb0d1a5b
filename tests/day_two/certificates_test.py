"""Certificates and their authority are replaced, by the commands of docs/PROCEDURES.md, and no call
fails meanwhile."""

import os
import pathlib
import subprocess
import unittest

import grpc

import place
from callers import Caller
from machine import WorkerService
from procedure import Procedure
from support import cli
from support.case import make_database, slow

NAME, HERE = "broker.internal", "localhost"
QUEUE = "orders"
MAKE = "deploy/example-mtls/make-certificates"


@slow
class Certificates(Procedure):
    HEADINGS = ("Replace a broker's certificate", "Replace a caller's certificate",
                "Replace the authority")

    def setUp(self):
        super().setUp()
        self.database = make_database(self)
        os.symlink(os.path.join(place.ROOT, "deploy"), self.files.path("deploy"))
        subprocess.run([self.files.path(MAKE), self.files.path("authority"), HERE, "producer",
                        "worker", "operator"], check=True)
        self.make_broker()
        self.standing_for.update({f"{NAME}:7070": self.address, NAME: HERE})
        self.make_worker()
        self.hand_out("authority", "authority/ca.crt")
        self.callers = [Caller(self.address, QUEUE, self.show, keeps) for keeps in (False, True)]
        for caller in self.callers:
            self.addCleanup(caller.end)
        self.wait_for_calls()

    def make_broker(self):
        self.machine = self.make_machine()
        etc = pathlib.Path(self.machine.etc)
        files = {"tls-cert": "broker.crt", "tls-key": "broker.key", "tls-client-ca": "ca.crt"}
        for name in files.values():
            etc.joinpath(name).write_bytes(self.files.read(f"authority/{name}"))
        etc.joinpath("skiplaned.conf").write_text("".join(
            [f"database = {self.database.broker_uri}\n",
             *(f"{flag} = {etc}/{name}\n" for flag, name in files.items())]), encoding="utf-8")
        self.service = self.add_service(self.machine, is_awaited=False)
        self.service.start()
        self.address = f"{HERE}:" + self.service.address.rsplit(":", 1)[1]
        own = self.files.path("authority/operator")
        self.environment.update(
            SKIPLANE_BROKER=self.address, SKIPLANE_TLS_CA=self.files.path("authority/ca.crt"),
            SKIPLANE_TLS_CERT=f"{own}.crt", SKIPLANE_TLS_KEY=f"{own}.key")
        subprocess.run([cli.program(), "queues", "create", QUEUE], check=True, env=self.environment,
                       stdout=subprocess.DEVNULL)

    def make_worker(self):
        """It is on the broker's machine: /etc/skiplane-worker is beside /etc/skiplane."""
        folder = f"{self.machine.etc}-worker"
        os.mkdir(folder)
        for name, file in {"worker.crt": "orders.crt", "worker.key": "orders.key",
                           "ca.crt": "ca.crt"}.items():
            pathlib.Path(folder, file).write_bytes(self.files.read(f"authority/{name}"))
        self.worker = WorkerService(QUEUE, {
            **self.environment, "SKIPLANE_TLS_CA": f"{folder}/ca.crt",
            "SKIPLANE_TLS_CERT": f"{folder}/orders.crt",
            "SKIPLANE_TLS_KEY": f"{folder}/orders.key"})
        self.machine.services["skiplane-worker@orders"] = self.worker
        self.worker.start()

    def hand_out(self, folder, authorities):
        """To the producers: a pair, and whom to trust."""
        self.producer = (self.files.read(authorities), self.files.read(f"{folder}/producer.key"),
                         self.files.read(f"{folder}/producer.crt"))

    def show(self):
        return grpc.ssl_channel_credentials(*self.producer), ()

    def wait_for_calls(self):
        for caller in self.callers:
            caller.wait_for_calls(self)

    def test_each_in_turn_and_no_call_fails(self):
        old = self.files.read("authority/broker.crt")
        self.give(0)
        self.assertNotEqual(self.files.read("authority/broker.crt"), old)
        self.give(1, self.machine)
        asked, seen = (line for line in self.give(2).splitlines() if "ingerprint" in line)
        self.assertEqual(asked, seen)
        self.wait_for_calls()

        self.give(0, section=1)
        self.give(1, self.machine, section=1)
        self.wait_for_calls()
        self.replace_authority()
        for caller in self.callers:
            caller.end()
        self.database.eventually("SELECT ready_count + leased_count FROM skiplane.queues", "0")
        self.assertEqual(self.database.value("SELECT count(*) FROM skiplane.failed_tasks"), "0")

    def replace_authority(self):
        self.give(0, section=2)
        self.give(1, self.machine, section=2)
        self.wait_for_calls()
        self.give(2, self.machine, section=2)
        self.hand_out("authority", "both.crt")
        self.wait_for_calls()
        self.give(3, self.machine, section=2)
        self.wait_for_calls()
        self.hand_out("authority-2", "both.crt")
        self.wait_for_calls()
        self.give(4, self.machine, section=2)
        self.wait_for_calls()
        self.hand_out("authority-2", "authority-2/ca.crt")
        self.wait_for_calls()
        said = self.give(5, section=2)
        self.assertIn("certificate:operator", said)


if __name__ == "__main__":
    unittest.main()
