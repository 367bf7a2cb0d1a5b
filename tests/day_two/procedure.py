"""A procedure of docs/PROCEDURES.md, whose commands a test gives as they stand there."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import place
from machine import BrokerService, Machine
from postgres import Postgres, as_postgres
from support import broker as brokers
from support import cli, cluster, document
from support.client import Client
from support.folder import Folder
from support.process import GENEROUS_S

PROGRAMS = os.path.join(place.HERE, "programs")
PRELUDE = "Before you begin"


class Procedure(unittest.TestCase):
    """Each class gives the blocks of the sections HEADINGS; all of them, or it fails. The first one
    is that of give()."""

    HEADINGS = ()

    @classmethod
    def setUpClass(cls):
        cls.given = {heading: set() for heading in cls.HEADINGS}

    @classmethod
    def tearDownClass(cls):
        for heading, given in cls.given.items():
            blocks = len(document.section(place.DOCUMENT, heading))
            assert given == set(range(blocks)), f"{heading}: of {blocks} only {given}"

    def setUp(self):
        self.files = Folder(for_all=True)
        self.addCleanup(self.files.remove)
        folders = [PROGRAMS, os.path.dirname(brokers.program()), os.path.dirname(cli.program())]
        self.environment = {
            **os.environ, "TZ": "UTC", "SKIPLANE_ACTOR": "tester",
            "PATH": os.pathsep.join([*folders, os.environ["PATH"]])}
        self.standing_for = {" -g skiplane": ""}  # what is another here than in the document

    def make_machine(self, name="machine"):
        os.mkdir(self.files.path(name))
        machine = Machine(self.files.path(name))
        self.addCleanup(machine.end)
        return machine

    def make_broker_machine(self, database, name="machine", settings="", **options):
        """One whose service `skiplaned` uses this database; it is not started."""
        machine = self.make_machine(name)
        pathlib.Path(machine.etc, "database").write_text(database.broker_uri + "\n",
                                                         encoding="utf-8")
        pathlib.Path(machine.etc, "skiplaned.conf").write_text(
            f"database-file = {machine.etc}/database\n{settings}", encoding="utf-8")
        self.add_service(machine, **options)
        return machine

    @staticmethod
    def add_service(machine, **options):
        service = machine.services["skiplaned"] = BrokerService(machine.etc, **options)
        return service

    def make_folder(self):
        """In memory, where the run has its PostgreSQL there."""
        shared = os.environ.get(cluster.VARIABLE)
        folder = tempfile.mkdtemp(prefix="skiplane-day-",
                                  dir=shared and os.path.dirname(shared))
        os.chmod(folder, 0o755)
        self.addCleanup(shutil.rmtree, folder)
        return folder

    def make_postgres(self, *settings, folder=None, options=()):
        """It is started."""
        postgres = Postgres(folder or self.make_folder(), settings, options)
        self.addCleanup(postgres.end)
        postgres.start()
        return postgres

    def migrate(self, database):
        code, output = brokers.run_to_end(self, "migrate", f"--database={database.uri}")
        self.assertEqual(code, 0, output)

    def client_of(self, machine):
        client = Client(machine.services["skiplaned"].address)
        self.addCleanup(client.close)
        return client

    def give(self, block, machine=None, by_postgres=False, section=0, **more):
        """A block of a section's commands, at a machine; what they said. `more` is further
        environment."""
        heading = self.HEADINGS[section]
        commands = document.section(place.DOCUMENT, heading)[block]
        self.given[heading].add(block)
        environment = {**self.environment, **more}
        if machine is not None:
            environment["SKIPLANE_TEST_SYSTEMD"] = machine.socket
            commands = commands.replace("/etc/skiplane", machine.etc)
        for old, new in self.standing_for.items():
            commands = commands.replace(old, new)
        shell = ["bash", "-euo", "pipefail", "-c", commands]
        done = subprocess.run(as_postgres(shell) if by_postgres else shell,
                              cwd=self.files.path("."), check=False, env=environment,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=2 * GENEROUS_S)
        said = done.stdout + done.stderr
        self.assertEqual(done.returncode, 0, f"{commands}\n{said}")
        return said


def headings():
    """Of the sections that have commands."""
    with open(os.path.join(place.ROOT, place.DOCUMENT), encoding="utf-8") as file:
        found = re.findall(r"(?m)^## (.+)$", file.read())
    return [heading for heading in found if document.section(place.DOCUMENT, heading)]
