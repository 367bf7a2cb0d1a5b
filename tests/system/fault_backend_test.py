"""Faults of single backends of PostgreSQL: killed, frozen, ended again and again."""

import contextlib
import os
import signal
import threading
import time
import unittest

import grpc

from support.case import slow
from support.fault import BareConnection, FaultTest
from support.process import GENEROUS_S

EVERY_S = 0.1
TIMES = 100
PROBE_S = 3
# What this one runs last: once in ten seconds, to see whether it is still connected, the second.
LISTENS = "(query LIKE 'LISTEN%' OR query = 'SELECT 1')"
LOST_CONNECTIONS = 'skiplane_db_errors_total{sqlstate_class="08"}'


class BackendFault(FaultTest):
    own_cluster = ()

    def setUp(self):
        super().setUp()
        self.begin(tolerated=["ABORTED"])

    def test_sigkill_of_one_backend_which_restarts_all_of_postgresql(self):
        before = self.load.refusals["UNAVAILABLE"]
        os.kill(self.our_backends()[0], signal.SIGKILL)
        self.load.wait_for(lambda: self.load.refusals["UNAVAILABLE"] > before, what="UNAVAILABLE")
        self.recover()

    @slow
    def test_sigstop_of_one_backend_stops_the_others_not(self):
        others = self.client_of(self.broker)
        others.create_queue("others")
        self.database.run("CREATE TABLE probe ()")
        while not self.cycles_beside_a_frozen_one(others):
            pass  # the very first call was given to it
        self.recover()
        self.assertEqual(self.readiness.changes(), 0)

    def cycles_beside_a_frozen_one(self, others):
        """How many tasks went through until it was given up."""
        lost = self.lost_connections()
        victim = self.freeze_one()
        done, refused = 0, []
        end = time.monotonic() + GENEROUS_S
        while self.lost_connections() == lost:
            self.assertLess(time.monotonic(), end, "the frozen backend was never given up")
            try:
                others.enqueue("others")
                self.assertEqual(others.ack(*others.lease("others", wait=60)), ["SETTLED"])
                done += 1
            except grpc.RpcError as error:
                self.assertIn(error.code().name, ("UNKNOWN", "UNAVAILABLE", "ABORTED"))
                refused.append(error)
        self.thaw(victim)
        # One call at a time, so one at most was with it.
        self.assertLessEqual(len(refused), 1, refused)
        return done

    def lost_connections(self):
        return self.broker.metrics().get(LOST_CONNECTIONS, 0)

    def freeze_one(self):
        """Its pid. One that flushes the log for all, or holds another lock within PostgreSQL, takes
        all of PostgreSQL with it: that is another test's fault."""
        while True:
            victim = self.busy_backend()
            os.kill(victim, signal.SIGSTOP)
            self.addCleanup(self.thaw, victim)  # it would outlive its cluster
            if self.can_commit():
                return victim
            self.thaw(victim)

    def can_commit(self):
        with contextlib.closing(BareConnection(self.cluster, self.database)) as probe:
            try:
                probe.run("INSERT INTO probe DEFAULT VALUES", bound_s=PROBE_S)
                return True
            except TimeoutError:
                return False

    def thaw(self, backend):
        with contextlib.suppress(ProcessLookupError):
            os.kill(backend, signal.SIGCONT)

    def busy_backend(self):
        """Not the one that listens, which nobody's call waits for."""
        return self.our_backends(f"NOT {LISTENS}")[0]

    @slow
    def test_sigstop_of_the_backend_that_listens_is_counted_and_it_is_replaced(self):
        lost = self.lost_connections()
        [victim] = self.our_backends(LISTENS)
        os.kill(victim, signal.SIGSTOP)
        self.addCleanup(self.thaw, victim)
        end = time.monotonic() + GENEROUS_S
        while self.lost_connections() == lost:
            self.assertLess(time.monotonic(), end, "the frozen backend was never given up")
            self.load.wait_for_acks(1)
        self.thaw(victim)
        self.database.eventually(f"SELECT count(*) FROM pg_stat_activity WHERE {LISTENS}"
                                 f" AND pid <> {victim}", "1")
        self.recover()
        self.assertEqual(self.readiness.changes(), 0)

    @slow
    def test_all_backends_ended_every_100_ms_for_10_s(self):
        nemesis = BareConnection(self.cluster, self.database)
        self.addCleanup(nemesis.close)
        pace = threading.Event()
        for _ in range(TIMES):
            self.end_our_backends(nemesis)
            pace.wait(EVERY_S)
        self.recover()


if __name__ == "__main__":
    unittest.main()
