"""A newer PostgreSQL, newer brokers, and brokers that come and go, by the commands of
docs/PROCEDURES.md, with producers and workers that go on."""

import os
import shutil
import unittest

import place  # noqa: F401  (first: it finds the others)
from machine import WorkerService
from procedure import Procedure
from support import broker as brokers
from support.case import slow
from support.load import Load
from support.process import POSTGRES


class Fleet(Procedure):
    """Two machines with a broker each on one database, and a load on both."""

    def setUp(self):
        super().setUp()
        self.postgres = self.make_postgres()
        self.database = self.postgres.make_database()
        self.migrate(self.database)
        self.database.broker_user = "postgres"
        self.machines = [self.make_broker_machine(self.database, f"machine-{number}")
                         for number in range(2)]
        self.addresses = [machine.services["skiplaned"].address for machine in self.machines]
        self.environment.update(DATABASE=self.database.uri, PGDATA=self.postgres.data,
                                SKIPLANE_BROKER=",".join(self.addresses))

    def begin(self, *machines):
        for machine in machines or self.machines:
            machine.services["skiplaned"].start()
        self.client = self.client_of(self.machines[0])
        Load.create_queues(self.client)
        self.load = Load(self.addresses)
        self.addCleanup(self.load.end)
        self.load.wait_for_acks(50)

    def finish(self):
        """Nothing was lost, and no attempt was charged."""
        self.load.wait_for_acks(50)
        self.load.drain()
        self.load.check(self)

    def running(self):
        return self.database.number("SELECT count(*) FROM skiplane.broker"
                                    " WHERE expire_time > now()")

    def at(self, machine, block, **more):
        """A block at a machine, whose broker is found at its own address there."""
        self.standing_for["127.0.0.1:7070"] = machine.services["skiplaned"].address
        return self.give(block, machine, **more)


@slow
class UpgradePostgres(Fleet):
    HEADINGS = ("Upgrade PostgreSQL",)

    def test_callers_wait_and_lose_nothing(self):
        folder = self.postgres.folder
        new = os.path.join(folder, "new")
        self.standing_for["/var/lib/postgresql"] = folder
        self.environment.update(OLD_BIN=POSTGRES, NEW_BIN=POSTGRES, NEW_DATA=new)
        self.begin()
        self.client.create_queue("letters")
        go_on = self.files.path("go-on")
        worker = WorkerService("letters", self.environment,
                               ["sh", "-c", f"until [ -e {go_on} ]; do sleep 0.1; done"])
        self.addCleanup(worker.end)
        before = self.client.enqueue("letters")
        worker.start()
        self.database.eventually("SELECT leased_count FROM skiplane.queues WHERE queue = 'letters'",
                                 "1")
        self.give(0, by_postgres=True)
        self.postgres.configure(new)
        for machine in self.machines:
            self.give(1, machine)
        self.files.write("go-on", "")  # it ends while nobody is there to hear of it
        self.give(2, by_postgres=True)
        for machine in self.machines:
            self.assertIn("serving", self.at(machine, 3))
        self.assertIn("0 wrong", self.give(4))
        self.assertEqual(self.database.value("SHOW data_directory"), new)
        self.database.eventually("SELECT count(*) FROM skiplane.attempts WHERE queue = 'letters'"
                                 " AND outcome = 'succeeded'", "1")
        self.assertEqual(self.client.state(before), "SUCCEEDED")
        worker.stop()
        self.finish()


@slow
class UpgradeBrokers(Fleet):
    HEADINGS = ("Upgrade the brokers",)

    def test_one_after_the_other_and_callers_notice_nothing(self):
        own = self.files.path("usr/bin/skiplaned")
        os.makedirs(os.path.dirname(own))
        shutil.copy(brokers.program(), own)
        self.standing_for["/usr/bin/skiplaned"] = own
        self.environment.update(NEW=brokers.program(), DUMP=self.files.path("queue.dump"))
        for machine in self.machines:
            machine.services["skiplaned"].program = own
        self.begin()
        self.assertIn("0 migrations missing", self.at(self.machines[0], 0))
        for machine in self.machines:
            self.at(machine, 1)
        self.give(2)
        for machine in self.machines:
            old = machine.services["skiplaned"].process
            self.assertIn("serving", self.at(machine, 3))
            self.assertIsNot(machine.services["skiplaned"].process, old)
            self.load.wait_for_acks(20)
        self.assertIn("packed", self.give(4))
        self.assertEqual(self.running(), 2)
        self.assertIn("0 migrations missing", self.give(5))
        self.finish()
        self.assertLessEqual(set(self.load.refusals), {"UNAVAILABLE", "CANCELLED"})
        self.database.run("INSERT INTO skiplane.schema_version (version, name) "
                          "SELECT max(version) + 1, 'of_tomorrow' FROM skiplane.schema_version")
        with self.assertRaisesRegex(AssertionError, "start a newer binary"):
            self.give(5)


@slow
class AddAndRemove(Fleet):
    HEADINGS = ("Add, move or remove a broker",)

    def test_callers_that_know_both_notice_nothing(self):
        first, second = self.machines
        self.begin(first)
        self.assertIn("serving", self.at(second, 0))
        self.load.wait_for_acks(20)
        self.assertEqual(self.running(), 2)
        self.at(first, 1)
        self.assertFalse(first.services["skiplaned"].process.runs())
        self.give(2)
        self.assertEqual(self.running(), 1)
        self.finish()


if __name__ == "__main__":
    unittest.main()
