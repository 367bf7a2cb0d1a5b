"""One round of kills: a database, brokers, workers and producers of its own. One thread kills
brokers and PostgreSQL, one after the other, and one kills workers, each at moments of its own; then
all tasks are run to their end."""

import contextlib
import json
import os
import random
import sys
import threading
import time

from journal import PRODUCER, WORKER, Where
from support import cluster, template
from support.broker import Broker
from support.client import Client
from support.database import Database
from support.fault import MortalCluster
from support.packs import PACKING, ROWS
from support.process import Process

QUEUE = "killed"
PRODUCERS = 2
MOMENTS_S = 0.1  # a kill comes at most so long after the work goes on
# Before some kills commits that write one of these are held back for a while: what the broker had
# under way is committed when it is gone, and its callers are at work with the next one. The last
# kill of a round holds back leases: no later hello gives back what this one should.
HELD_BACK = ("lease_ledger", "settled", "answered_request")
HELD_BACK_SHARE = 0.25  # of the kills
HELD_BACK_S = 0.4  # at most, from the start of the next broker
DATABASE_MOMENTS_S = 2  # likewise, of PostgreSQL: sometimes before all have connected again
DRAIN_S = 120
LOOK_S = 0.05  # between two looks at a database that drains

# Sessions are forgotten once they hold nothing, and packs once they are empty: this keeps whose
# sessions there were, and which tasks were packed.
KEEP = """
CREATE TABLE public.known_session (id uuid, name text);
CREATE FUNCTION public.note_session() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS
 $$ BEGIN INSERT INTO public.known_session VALUES (NEW.id, NEW.name); RETURN NULL; END $$;
CREATE TRIGGER note_session AFTER INSERT ON skiplane.worker_session
 FOR EACH ROW EXECUTE FUNCTION public.note_session();
CREATE TABLE public.known_pack (lane bigint, id bigint, mask bigint);
CREATE FUNCTION public.note_pack() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS
 $$ BEGIN INSERT INTO public.known_pack
 VALUES (NEW.lane, NEW.id, skiplane.first_positions(NEW.task_count) & ~NEW.gone);
 RETURN NULL; END $$;
CREATE TRIGGER note_pack AFTER INSERT ON skiplane.task_pack
 FOR EACH ROW EXECUTE FUNCTION public.note_pack()"""

# A pack is gone when its last task is: one that is left without tasks is told, too.
LEFT = """SELECT concat(lane, '-', id), state, attempt, session::text FROM skiplane.task
 UNION ALL SELECT concat('pack ', lane, '-', id), priority, task_count, gone::bit(64)::text
 FROM skiplane.task_pack LIMIT 5"""


class Round:
    """Whoever makes it calls end()."""

    def __init__(self, folder, seed, options):
        self.folder, self.seed, self._options = folder, seed, options
        self.faults = []  # what went wrong while it ran
        self.brokers_killed, self.held_back, self.databases_killed = 0, 0, 0
        self.workers_killed, self.names = [], []
        self._over, self._where = threading.Event(), Where(folder)
        self._starts, self._brokers = 0, {}  # by their starts
        self._cluster = MortalCluster() if options.databases else cluster.shared()
        self.database = Database(self._cluster, template.made_in(self._cluster))
        self.database.broker_user = template.BROKER_USER
        self.database.run(KEEP)
        for table in HELD_BACK:
            self.database.let_commits_wait(table)
        self._forker = None
        self.counts = None  # of the queue, when all tasks have ended

    def run(self, brokers, workers, databases, end_time):
        """Until so many are killed, or the time has come."""
        for _ in range(self._options.running_brokers):
            self._start_broker(is_awaited=True)
        with self._client() as client:
            client.create_queue(QUEUE, **(PACKING if self._options.packing else ROWS))
        settings = {"queue": QUEUE, "lease_s": self._options.lease_seconds, "seed": self.seed,
                    "packing": self._options.packing}
        self._forker = Process([sys.executable, "-B",
                                os.path.join(os.path.dirname(__file__), "forker.py"),
                                self.folder, json.dumps(settings)])
        self._forker.wait_for_output("ready\n")
        producers = [self._start(PRODUCER) for _ in range(PRODUCERS)]
        alive = [self._start(WORKER) for _ in range(self._options.running_workers)]
        killer = threading.Thread(target=self._guarded,
                                  args=(self._kill_workers, alive, workers, end_time))
        killer.start()
        # What they start dies with the thread that it is of.
        self._guarded(self._kill_brokers, brokers, databases, end_time)
        killer.join()
        self._where.end()
        if not self.faults:
            self._guarded(self._drain, producers)
        self._guarded(self._end_workers, alive)

    def _guarded(self, part, *arguments):
        try:
            part(*arguments)
        except Exception as error:  # pylint: disable=broad-except
            self.faults.append(f"{part.__name__}: {error}")
            self._over.set()

    def _client(self):
        return contextlib.closing(Client(next(iter(self._brokers.values())).address))

    def _start_broker(self, is_awaited=False):
        self._starts += 1
        self._brokers[self._starts] = Broker(
            f"--database={self.database.broker_uri}", "--auto-create-queues",
            *self._options.broker_flag, is_awaited=is_awaited)
        self._where.publish({start: broker.address for start, broker in self._brokers.items()})

    def _end_broker(self, start):
        broker = self._brokers.pop(start)
        if not broker.runs():
            self.faults.append(f"the broker of start {start} ended by itself")
        broker.kill()
        if " internal_error " in broker.output:
            self.faults.append(f"the broker of start {start} had an internal error")
        with open(os.path.join(self.folder, "brokers.log"), "a", encoding="utf-8") as log:
            log.write(f"start {start}\n{broker.output}")
        broker.end()

    def _kill_brokers(self, brokers, databases, end_time):
        """And PostgreSQL between them."""
        moments = random.Random(f"{self.seed} brokers")
        while self._goes_on(end_time):
            brokers_left = brokers - self.brokers_killed
            databases_left = databases - self.databases_killed
            if not brokers_left + databases_left:
                return
            if len(self._brokers) == 1:  # else others go on meanwhile
                self._forker.wait_for_output(f"start {self._starts} told ")
            if moments.randrange(brokers_left + databases_left) < brokers_left:
                self._kill_broker(moments, is_last=brokers_left == 1)
            else:
                self._kill_database(moments)

    def _kill_broker(self, moments, is_last):
        lock = self._hold_back(HELD_BACK[0] if is_last else self._drawn(moments))
        self._over.wait(moments.random() * MOMENTS_S)  # the moment, not a wait for work
        self._end_broker(moments.choice(list(self._brokers)))
        self.brokers_killed += 1
        self._start_broker(is_awaited=self._options.databases > 0)  # it needs a database to begin
        if lock is not None:
            self._over.wait(moments.random() * HELD_BACK_S)
            lock.release()

    def _kill_database(self, moments):
        self._over.wait(moments.random() * DATABASE_MOMENTS_S)
        self._cluster.kill()
        self._cluster.start()
        self.databases_killed += 1

    @staticmethod
    def _drawn(moments):
        return moments.choice(HELD_BACK) if moments.random() < HELD_BACK_SHARE else None

    def _hold_back(self, table):
        if table is None:
            return None
        self.held_back += 1
        return self.database.hold_commits(table)

    def _kill_workers(self, alive, count, end_time):
        """Half of the victims are new ones, at whatever they are about."""
        moments = random.Random(f"{self.seed} workers")
        while len(self.workers_killed) < count and self._goes_on(end_time):
            self._over.wait(moments.random() * MOMENTS_S)
            victim = moments.randrange(len(alive))
            self._kill(alive[victim])
            self.workers_killed.append(alive[victim])
            alive[victim] = self._start(WORKER)
            if moments.random() < 0.5:
                self._forker.wait_for_output(f" told {alive[victim]}\n")

    def _goes_on(self, end_time):
        return not self._over.is_set() and time.monotonic() < end_time

    def _start(self, kind):
        name = f"{kind}-{len(self.names) + 1}"
        self.names.append(name)
        self._forker.tell(f"start {name}")
        return name

    def _kill(self, name):
        self._forker.tell(f"kill {name}")
        self._forker.wait_for_output(f" {name} is gone\n")
        if f"fell {name} is gone\n" in self._forker.output:
            self.faults.append(f"{name} ended by itself")

    def _drain(self, producers):
        for name in producers:
            self._forker.wait_for_output(f"produced {name}\n", DRAIN_S)
        end = time.monotonic() + DRAIN_S
        while left := self.database.run(LEFT):
            if time.monotonic() > end:
                raise AssertionError(f"after {DRAIN_S} s there are still tasks: {left}")
            self._over.wait(LOOK_S)
        with self._client() as client:
            counts = client.queue(QUEUE).counts
            self.counts = (counts.scheduled_count, counts.ready_count, counts.leased_count,
                           counts.succeeded_count)

    def _end_workers(self, alive):
        for name in alive:
            self._kill(name)
        for start in list(self._brokers):
            self._end_broker(start)

    def end(self):
        for process in [self._forker, *self._brokers.values()]:
            if process is not None:
                process.end()
        if self._options.databases:
            self._cluster.end()
        else:
            self.database.drop()
