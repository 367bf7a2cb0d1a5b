"""The alerts of the database and of the upkeep fire by their causes."""

import unittest

import place  # noqa: F401  (first: it finds the others)
import prometheus
from alerts_case import AlertsTest
from support import faked_clock
from support.case import slow
from support.client import DEADLINE_S, broker_pb2
from support.database import Database
from support.faked_clock import FakedClock

QUEUES = [f"queue-{number}" for number in range(8)]
ENQUEUE = "skiplane.v1.BrokerService/Enqueue"
FOLDER_FAILS = {("SkiplaneChoreFails", "error_folder"), ("SkiplaneChoreStale", "error_folder"),
                ("SkiplaneDatabaseErrors", "P0")}


@slow
@unittest.skipUnless(prometheus.IS_INSTALLED, prometheus.WHY_NOT)
@unittest.skipUnless(faked_clock.LIBRARY, faked_clock.WHY_NOT)
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
        clock = FakedClock(self)
        self.set_clock = clock.set
        self.database = Database(clock.cluster)
        first, self.client = self.start("--database-connections=2")
        second = self.start_broker()
        for name in QUEUES:
            self.client.create_queue(name)
        self.client.enqueue(QUEUES[0])  # the histogram of such calls begins with its first value
        self.work()
        self.watch(first=first, second=second)

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
