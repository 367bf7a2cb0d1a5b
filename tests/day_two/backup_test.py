"""Backups and restores, by the commands of docs/PROCEDURES.md."""

import os
import unittest

import place  # noqa: F401  (first: it finds the others)
from procedure import Procedure
from support.broker import Broker
from support.case import slow
from support.client import Client
from support.database import run_sql

WAITING = 5
MAY_CONNECT = """SELECT concat_ws(' ', has_database_privilege('pg_monitor', d.oid, 'CONNECT'),
  has_database_privilege('skiplane', d.oid, 'CONNECT'), pg_get_userbyid(datdba) = 'skiplane_owner')
  FROM pg_database d WHERE datname = 'skiplane_restored'"""
IS_MEMBER = "SELECT pg_has_role('skiplane', 'skiplane_broker', 'MEMBER')"


@slow
class Backup(Procedure):
    HEADINGS = ("Back up a database", "Restore a database")

    def test_what_is_restored_is_what_was_backed_up(self):
        postgres = self.make_postgres()
        database = postgres.make_database()
        self.migrate(database)
        database.run("CREATE ROLE skiplane LOGIN IN ROLE skiplane_broker")
        database.broker_user = "skiplane"
        restored = postgres.uri("skiplane_restored", "skiplane")
        self.standing_for["postgresql://skiplane:PASSWORD@db.internal/skiplane_restored"] = restored
        machine = self.make_broker_machine(database, settings="no-migrate = true\n")
        service = machine.services["skiplaned"]
        service.start()
        self.environment.update(
            DATABASE=database.uri, RESTORED=postgres.uri("skiplane_restored"),
            DUMP=self.files.path("queue.dump"), ROLES=self.files.path("roles.sql"),
            SKIPLANE_BROKER=service.address, OWNER="skiplane_owner", BROKERS="skiplane")
        self.standing_for["127.0.0.1:7070"] = service.address
        before = self.client_of(machine)
        before.create_queue("mail")
        before.enqueue_all("mail", [before.new_task() for _ in range(WAITING)])
        self.give(0)  # while the broker runs
        self.give(1)
        self.assertIn("CREATE ROLE skiplane_broker", self.files.read("roles.sql").decode())
        lost = before.enqueue("mail")
        self.assert_roles_are_for_another_cluster()
        self.give(0, machine, section=1)
        self.assertFalse(service.process.runs())
        self.give(2, section=1)
        said = self.give(3, section=1)
        self.assertIn("0 wrong", said)
        self.assertRegex(said, rf"mail +\| +{WAITING} \|")
        self.assertEqual(database.value(MAY_CONNECT), "f t t")
        self.assertIn("serving", self.give(4, machine, section=1))
        self.assertIn("skiplane_restored at ", service.process.output)
        tasks = self.client_of(machine).lease("mail", max_tasks=WAITING + 1)
        self.assertEqual(len(tasks), WAITING)
        self.assertNotIn(lost, [task.task_id for task in tasks])

    def assert_roles_are_for_another_cluster(self):
        other = self.make_postgres()
        said = self.give(1, section=1, DATABASE=other.uri("postgres"))
        self.assertIn("already exists", said)  # its superuser
        self.assertEqual(run_sql(other.uri("postgres"), IS_MEMBER), [("t",)])


@slow
class EmbeddedBackup(Procedure):
    HEADINGS = ("Back up and restore an embedded database",)

    def start_on(self, folder):
        broker = Broker(f"--embedded={folder}", "--auto-create-queues")
        self.addCleanup(broker.end)
        client = Client(broker.address)
        self.addCleanup(client.close)
        return broker, client

    def test_it_goes_on_in_a_new_folder(self):
        folder = self.make_folder()
        old, new = os.path.join(folder, "old"), os.path.join(folder, "new")
        self.standing_for.update({"/var/lib/skiplane-restored": new, "/var/lib/skiplane": old})
        self.environment["DUMP"] = self.files.path("queue.dump")
        broker, client = self.start_on(old)
        task_id = client.enqueue("mail", b"letter")
        self.give(0)
        self.assertEqual(broker.terminate(), 0)
        self.assertIn("0 wrong", self.give(1))
        _, there = self.start_on(new)
        [task] = there.lease("mail")
        self.assertEqual((task.task_id, task.payload), (task_id, b"letter"))


@slow
class PointInTime(Procedure):
    HEADINGS = ("Go back to a point in time",)

    def setUp(self):
        super().setUp()
        self.postgres = self.make_postgres()
        self.database = self.postgres.make_database()
        self.migrate(self.database)
        wal = self.postgres.folder + "/wal"
        os.mkdir(wal)
        os.chmod(wal, 0o777)
        self.standing_for["/srv/"] = self.postgres.folder + "/"
        self.environment.update(DATABASE=self.database.uri, PGDATA=self.postgres.data)
        self.database.broker_user = "postgres"
        self.machine = self.make_broker_machine(self.database)

    def time(self):
        return self.database.value("SELECT clock_timestamp()")

    def test_what_came_later_never_was(self):
        self.give(0, by_postgres=True)
        self.give(1, by_postgres=True)
        service = self.machine.services["skiplaned"]
        service.start()
        client = self.client_of(self.machine)
        client.create_queue("mail")
        client.enqueue_all("mail", [client.new_task() for _ in range(WAITING)])
        wanted = self.time()
        held, done = client.lease("mail", max_tasks=2, worker_id="of before", duration=600)
        client.ack(done)
        client.enqueue("mail")
        self.give(2, self.machine)
        said = self.give(3, by_postgres=True, TIME=wanted)
        self.assertNotIn("FATAL", said.replace("FATAL:  the database system is starting up", ""))
        with open(self.postgres.folder + "/restored/recovery.log", encoding="utf-8") as log:
            self.assertIn("recovery stopping before commit", log.read())
        service.start()
        after = self.client_of(self.machine)
        self.assertEqual(after.ack(held), ["LEASE_LOST"])
        self.assertEqual(len(after.lease("mail", max_tasks=WAITING + 1)), WAITING)
        self.assertEqual(after.ack(held, done), ["LEASE_LOST"] * 2)


if __name__ == "__main__":
    unittest.main()
