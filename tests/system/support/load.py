"""Producers and workers that go on through faults, a history of what they were answered, and the
check of it: nothing answered is lost, nothing is done twice.

Every call is repeated, unchanged, until it is answered: the next try goes to the next broker."""

import collections
import threading
import time

import grpc

from support.client import Client, broker_pb2, lease_request, new_id
from support.process import GENEROUS_S

QUEUE = "load"
# What a slow machine, or a broker under sanitizers, may take longer than a good one.
MACHINE_FACTOR = 6
BACK_WITHIN_S = 5 * MACHINE_FACTOR
WINDOW_S = 1
PAUSE_S = 0.05
PRODUCERS = 2
WORKERS = 4
TASKS_PER_CALL = 5
LEASE_S = 60
OURS = (f"WHERE lane IN (SELECT l.lane FROM skiplane.queue_lane l JOIN skiplane.queue q"
        f" ON q.id = l.queue_id WHERE q.name = '{QUEUE}')")
WITHOUT_REASON = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.UNKNOWN,
                  grpc.StatusCode.CANCELLED)  # as a broken connection shows


class Load:
    """`tolerated` are names of codes that a fault may answer besides UNAVAILABLE. Half of the
    workers lease without a request id if `anonymous`."""

    def __init__(self, addresses, tolerated=(), deadline_s=90, anonymous=False):
        self._addresses = addresses
        self._tolerated = {"UNAVAILABLE", *tolerated}
        self._deadline_s = deadline_s
        self._anonymous = anonymous
        self._changed = threading.Condition()
        self._producing, self._working = True, True
        self._acked_at = collections.deque()
        self.enqueued = {}   # payload by id, of what an answer named
        self.acked = {}      # attempt by id, of what an answer called acked
        self.refusals = collections.Counter()  # codes
        self.tries_most = 1  # of one call
        self.wrong = []      # what must not happen
        self._producers = [self._thread(self._produce, n) for n in range(PRODUCERS)]
        self._workers = [self._thread(self._work, n) for n in range(WORKERS)]

    def _thread(self, run, number):
        def guarded():
            try:
                run(number)
            except Exception as error:  # pylint: disable=broad-except
                with self._changed:
                    if self._working:
                        self.wrong.append(repr(error))
                    self._changed.notify_all()
        thread = threading.Thread(target=guarded, daemon=True)
        thread.start()
        return thread

    def wait_for(self, is_true, bound_s=GENEROUS_S, what="it"):
        with self._changed:
            if not self._changed.wait_for(lambda: self.wrong or is_true(), bound_s):
                raise AssertionError(f"{what}: not within {bound_s} s; {len(self.enqueued)} "
                                     f"enqueued, {len(self.acked)} acked, {self.refusals}")
            if self.wrong:
                raise AssertionError(self.wrong)

    def wait_for_refusal(self, code, count=1):
        """From now on."""
        before = self.refusals[code]
        self.wait_for(lambda: self.refusals[code] >= before + count, what=code)

    def rate(self):
        """Acks in the last second."""
        since = time.monotonic() - WINDOW_S
        while self._acked_at and self._acked_at[0] < since:
            self._acked_at.popleft()
        return len(self._acked_at)

    def wait_for_acks(self, count):
        """From now on."""
        before = len(self.acked)
        self.wait_for(lambda: len(self.acked) >= before + count, what=f"{count} acks")

    def steady_rate(self):
        self.wait_for_acks(100)
        self.wait_for_acks(100)
        with self._changed:
            return self.rate()

    def wait_for_rate(self, wanted):
        """From now on: what was acked before does not count."""
        with self._changed:
            self._acked_at.clear()
        self.wait_for(lambda: self.rate() >= wanted, BACK_WITHIN_S, f"{wanted} acks per second")

    def drain(self):
        """Ends the producers, and the workers when all is acked."""
        with self._changed:
            self._producing = False
            self._changed.notify_all()
        for thread in self._producers:
            thread.join(GENEROUS_S)
        self.wait_for(lambda: len(self.acked) >= len(self.enqueued), what="the rest")
        self.end()

    def end(self):
        with self._changed:
            self._producing = self._working = False
            self._changed.notify_all()
        for thread in self._producers + self._workers:
            thread.join(2 * GENEROUS_S)

    def check(self, test, retried=()):
        """After drain(). `retried` are the tasks that a fault took from their first worker."""
        test.assertEqual(self.wrong, [])
        test.assertEqual(set(self.acked), set(self.enqueued))
        test.assertEqual(len(set(self.enqueued.values())), len(self.enqueued))
        test.assertEqual({task for task, attempt in self.acked.items() if attempt > 1},
                         set(retried))
        test.assertEqual(test.database.run(f"SELECT id, state FROM skiplane.task {OURS}"), [])
        count = str(len(self.enqueued))
        test.assertEqual(
            test.database.run("SELECT count(*), count(DISTINCT task_id) FROM skiplane.history"
                              f" {OURS} AND outcome = 1"), [(count, count)])
        test.assertEqual(
            test.database.number("SELECT count(*) FROM skiplane.history"
                                 f" {OURS} AND attempt > 1"), len(retried))

    def _produce(self, number):
        caller = Caller(self, number)
        call = 0
        while self._producing:
            payloads = [f"{number}.{call}.{task}".encode() for task in range(TASKS_PER_CALL)]
            request = broker_pb2.EnqueueRequest(
                queue=QUEUE, request_id=new_id(),
                tasks=[broker_pb2.NewTask(payload=payload) for payload in payloads])
            answer, _ = caller.persist("Enqueue", request)
            call += 1
            with self._changed:
                for payload, result in zip(payloads, answer.results):
                    self.enqueued[result.task_id] = payload
                self._changed.wait_for(lambda: not self._producing, PAUSE_S)
        caller.close()

    def _work(self, number):
        caller = Caller(self, number)
        worker_id = new_id()
        repeats = not self._anonymous or number % 2 == 0
        while self._working:
            request = lease_request(QUEUE, max_tasks=10, wait=1, duration=LEASE_S,
                                    worker_id=worker_id, request_id=new_id() if repeats else "")
            tasks, _ = caller.persist("Lease", request)
            if tasks.tasks:
                self._settle(caller, tasks.tasks)
        caller.close()

    def _settle(self, caller, tasks):
        with self._changed:
            self.wrong += [f"leased again: {task}" for task in tasks if task.task_id in self.acked]
        items = [broker_pb2.AckItem(lease_token=task.lease_token) for task in tasks]
        answer, tries = caller.persist("Ack", broker_pb2.AckRequest(items=items))
        # The broker, too, repeats an ack whose answer it missed.
        good = (broker_pb2.SETTLE_OUTCOME_SETTLED, broker_pb2.SETTLE_OUTCOME_ALREADY_SETTLED)
        with self._changed:
            for task, result in zip(tasks, answer.results):
                if result.outcome not in good or task.task_id in self.acked:
                    self.wrong.append(f"{task} got {result} in try {tries}")
                self.acked[task.task_id] = task.attempt
                self._acked_at.append(time.monotonic())
            self._changed.notify_all()

    def refused(self, error, tries):
        """Whether to go on after this. Not after end(): there may be no broker any more."""
        with self._changed:
            code = error.code()
            self.refusals[code.name] += 1
            self.tries_most = max(self.tries_most, tries + 1)
            if code.name not in self._tolerated and not is_broken_connection(error):
                self.wrong.append(repr(error))
            self._changed.notify_all()
            return self._working and not self.wrong

    def pause(self):
        with self._changed:
            self._changed.wait_for(lambda: not self._working, PAUSE_S)

    @property
    def addresses(self):
        return self._addresses

    @property
    def deadline_s(self):
        return self._deadline_s


def is_broken_connection(error):
    """No broker made this status."""
    return error.code() in WITHOUT_REASON and not any(
        key == "grpc-status-details-bin" for key, _ in error.trailing_metadata() or ())


class Caller:
    """One client at a time, at one broker after the other."""

    def __init__(self, load, number):
        self._load = load
        self._turn = number
        self._client = self._connect()

    def _connect(self):
        return Client(self._load.addresses[self._turn % len(self._load.addresses)])

    def close(self):
        self._client.close()

    def persist(self, method, request):
        """The answer, and in which try it came."""
        tries = 1
        while True:
            try:
                return getattr(self._client.broker, method)(
                    request, timeout=self._load.deadline_s), tries
            except grpc.RpcError as error:
                if not self._load.refused(error, tries):
                    raise
            tries += 1
            self._load.pause()
            self._turn += 1
            self._client.close()
            self._client = self._connect()
