"""A disk that is full, and a primary that is lost, by the commands of docs/PROCEDURES.md."""

import os
import pathlib
import signal
import subprocess
import unittest

import grpc

import place  # noqa: F401  (first: it finds the others)
from procedure import Procedure
from support.case import slow
from support.client import reason_of
from support.database import Database
from support.load import Load

DISK_MIB = 320
PAYLOAD = os.urandom(500 << 10)
SMALL_WAL = ("max_wal_size = 48MB", "min_wal_size = 32MB", "shared_buffers = 32MB")


@slow
class FullDisk(Procedure):
    HEADINGS = ("The disk is full",)

    def setUp(self):
        super().setUp()
        disk = self.files.path("pg")
        os.mkdir(disk)
        mount = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK_MIB}m,mode=755", "tmpfs",
                                disk], capture_output=True, text=True, check=False)
        if mount.returncode != 0:
            type(self).given = {}  # of nothing more is asked
            self.skipTest(f"no small disk can be mounted: {mount.stderr.strip()}")
        self.addCleanup(subprocess.run, ["umount", disk], check=True)
        self.postgres = self.make_postgres(*SMALL_WAL, folder=disk, options=["--wal-segsize=4"])
        self.database = self.postgres.make_database()
        self.migrate(self.database)
        self.database.broker_user = "postgres"

    def test_room_is_made_and_nothing_answered_is_lost(self):
        self.standing_for["1GiB"] = "64MiB"
        self.standing_for["/var/lib/postgresql/ballast"] = self.files.path("pg/ballast")
        machine = self.make_broker_machine(self.database)
        machine.services["skiplaned"].start()
        client = self.client_of(machine)
        client.create_queue("mail")
        self.environment.update(DATABASE=self.database.uri, PGDATA=self.postgres.data)
        self.give(0)
        made = []
        with self.assertRaises(grpc.RpcError) as full:
            while True:
                # Else the log of changes may be what no longer fits, and PostgreSQL ends.
                self.database.run("CHECKPOINT")
                made.append(client.enqueue("mail", PAYLOAD))
        self.assertEqual(reason_of(full.exception), "DATABASE_FULL")
        self.assertIn("task", self.give(1))
        made.append(client.enqueue("mail", PAYLOAD))
        day = self.database.value("SELECT right(min(relname), 8) FROM pg_class"
                                  " WHERE relname ~ '^history_[0-9]{8}$'")
        self.give(2, DAY=day)
        left = set(made)
        while left:
            tasks = client.lease("mail", max_tasks=2)
            self.assertEqual(client.ack(*tasks), ["SETTLED"] * len(tasks))
            left -= {task.task_id for task in tasks}
        self.assertTrue(machine.services["skiplaned"].process.runs())


class StandbyAt:
    """Where a Database finds it."""

    def __init__(self, folder):
        self.folder = folder

    def uri(self, database, user="postgres"):
        return f"postgresql://{user}@/{database}?host={self.folder}"


@slow
class PrimaryLost(Procedure):
    HEADINGS = ("The primary is lost",)

    def test_the_standby_takes_over_and_nothing_answered_is_lost(self):
        primary = self.make_postgres("wal_keep_size = 64MB")
        database = primary.make_database()
        self.migrate(database)
        standby = primary.folder + "/standby"
        folder = self.files.path("other")
        os.mkdir(folder)
        os.chmod(folder, 0o777)
        after = database.uri.replace(primary.folder, folder)
        self.environment.update(DATABASE=database.uri, STANDBY=standby, STANDBY_DATABASE=after)
        self.give_standby(folder, standby)
        self.give(1)
        database.eventually("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'",
                            "1")
        machine = self.make_machine()
        pathlib.Path(machine.etc, "skiplaned.conf").write_text(
            f"database = {database.uri},{folder}\n", encoding="utf-8")
        service = self.add_service(machine)
        service.start()
        self.environment["SKIPLANE_BROKER"] = service.address
        Load.create_queues(self.client_of(machine))
        load = Load([service.address], tolerated=["FAILED_PRECONDITION"])
        self.addCleanup(load.end)
        load.wait_for_acks(50)
        os.kill(primary.pid(), signal.SIGQUIT)
        service.process.wait_for_output(" database_unusable ")
        self.give(2, by_postgres=True)
        service.process.wait_for_output(" database_usable")
        self.assertIn("0 wrong", self.give(3))
        load.wait_for_acks(50)
        load.drain()
        self.database = Database.named(StandbyAt(folder), "skiplane")
        load.check(self)

    def give_standby(self, folder, standby):
        """On this machine both have one port, and so need folders of their own for sockets."""
        self.standing_for["pg_ctl start"] = (
            f"echo \"unix_socket_directories = '{folder}'\" >> {standby}/postgresql.conf\n"
            "pg_ctl start")
        self.give(0, by_postgres=True)


if __name__ == "__main__":
    unittest.main()
