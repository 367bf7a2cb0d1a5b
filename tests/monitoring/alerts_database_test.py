"""The alerts of the database and of the upkeep fire by their causes."""

import glob
import os
import tempfile
import unittest

import place  # noqa: F401  (first: it finds the others)
import prometheus
from alerts_case import AlertsTest
from support.case import slow
from support.client import DEADLINE_S, broker_pb2
from support.cluster import Cluster, give_away
from support.database import Database

LIBRARY = glob.glob("/usr/lib/*/faketime/libfaketime.so.1")
QUEUES = [f"queue-{number}" for number in range(8)]
ENQUEUE = "skiplane.v1.BrokerService/Enqueue"
FOLDER_FAILS = {("SkiplaneChoreFails", "error_folder"), ("SkiplaneChoreStale", "error_folder"),
                ("SkiplaneDatabaseErrors", "P0")}


@slow
@unittest.skipUnless(prometheus.IS_INSTALLED, prometheus.WHY_NOT)
@unittest.skipUnless(LIBRARY, "the Debian package faketime is not installed")
class OneDatabase(AlertsTest):
    EXPECTED = frozenset({
        ("SkiplanePoolExhausted", "first"), ("SkiplaneCallsSlow", ENQUEUE), *FOLDER_FAILS,
        ("SkiplaneDeadRows", "error_note"), ("SkiplaneDatabaseLarge", ""),
        ("SkiplaneNoLeader", ""), ("SkiplaneClockWentBack", ""),
        ("SkiplaneDatabaseUnavailable", "DATABASE_READ_ONLY")})
    # A task has failed for good, statements waited for too long, or were cut off.
    ALLOWED = frozenset({("SkiplaneErrorRatioHigh", QUEUES[0]),
                         ("SkiplaneDeadLettersGrow", QUEUES[0]),
                         ("SkiplaneChoreFails", "leader"), ("SkiplaneDatabaseErrors", "55"),
                         ("SkiplaneDatabaseErrors", "57"), ("SkiplaneDatabaseErrors", "08"),
                         ("SkiplaneDatabaseErrors", "25")})

    def setUp(self):  # pylint: disable=super-init-not-called
        folder = tempfile.TemporaryDirectory(prefix="skiplane-clock-")
        self.addCleanup(folder.cleanup)
        give_away(folder.name)
        os.chmod(folder.name, 0o755)
        self.offset = os.path.join(folder.name, "offset")
        self.set_clock(0)
        cluster = Cluster(env=[f"LD_PRELOAD={LIBRARY[0]}", "FAKETIME_NO_CACHE=1",
                               f"FAKETIME_TIMESTAMP_FILE={self.offset}",
                               "FAKETIME_DONT_FAKE_MONOTONIC=1"])
        self.addCleanup(self.end, cluster)
        self.database = Database(cluster)
        first, self.client = self.start("--database-connections=2")
        second = self.start_broker()
        for name in QUEUES:
            self.client.create_queue(name)
        self.client.enqueue(QUEUES[0])  # the histogram of such calls begins with its first value
        self.work()
        self.watch(first=first, second=second)

    @staticmethod
    def end(cluster):
        cluster.end()
        for left in glob.glob(f"/dev/shm/*faketime_*_{cluster.pid}"):
            os.unlink(left)

    def set_clock(self, offset_s):
        """Of the database; from now on."""
        with open(self.offset + ".new", "w", encoding="ascii") as file:
            file.write(f"{offset_s:+d}\n")
        os.chmod(self.offset + ".new", 0o644)
        os.rename(self.offset + ".new", self.offset)

    def test_each_fires_by_its_cause(self):
        self.hold_tasks_up()
        self.break_a_chore()
        self.grow()
        self.await_fired(*FOLDER_FAILS, ("SkiplaneDeadRows", "error_note"),
                         ("SkiplaneDatabaseLarge", ""))
        self.set_clock(-3600)
        self.await_fired(("SkiplaneClockWentBack", ""))
        lock = self.database.hold("LOCK TABLE skiplane.upkeep_lead")
        self.await_fired(("SkiplaneNoLeader", ""))
        lock.release()
        self.database.refuse_writes()
        self.await_fired(*self.EXPECTED)

    def hold_tasks_up(self):
        """More statements than connections wait for a lock of somebody else."""
        writes = self.database.hold_writes()
        waiting = [self.client.broker.Enqueue.future(
            broker_pb2.EnqueueRequest(queue=name, tasks=[self.client.new_task()]),
            timeout=DEADLINE_S) for name in QUEUES]
        self.await_fired(("SkiplanePoolExhausted", "first"))
        writes.release()
        for call in waiting:
            call.exception()  # a statement may have waited for too long
        self.await_fired(("SkiplaneCallsSlow", ENQUEUE), go_on=self.work)

    def work(self):
        for name in QUEUES:
            tasks = self.client.lease(name, wait=0)
            if tasks:
                self.client.ack(*tasks)

    def break_a_chore(self):
        self.database.run(
            "CREATE FUNCTION public.refuse() RETURNS trigger LANGUAGE plpgsql AS"
            " $$ BEGIN RAISE 'not today'; END $$;"
            "CREATE TRIGGER refuse BEFORE DELETE ON skiplane.error_delta FOR EACH STATEMENT"
            " EXECUTE FUNCTION public.refuse()")
        self.client.enqueue(QUEUES[0])
        [task] = self.client.lease(QUEUES[0])
        self.client.nack(task, "FAIL")

    def grow(self):
        """Sizes are read once a minute, and by a broker that starts."""
        self.database.run(
            "CREATE TABLE public.ballast (text text);"
            "ALTER TABLE public.ballast ALTER text SET STORAGE EXTERNAL;"
            "INSERT INTO public.ballast SELECT repeat(md5(n::text), 100)"
            " FROM generate_series(1, 10000) n;"
            "ALTER TABLE skiplane.error_note SET (autovacuum_enabled = off);"
            "INSERT INTO skiplane.error_note"
            " SELECT n, '', '', false, '' FROM generate_series(1, 1000) n")
        self.database.run("DELETE FROM skiplane.error_note")
        self.join("third", self.start_broker())


if __name__ == "__main__":
    unittest.main()
