"""Producers and workers that go on through faults, a history of what they were answered, and the
check of it: nothing answered is lost, nothing is done twice. Half of them use a queue whose tasks
are packed, and half one whose tasks are rows.

Every call is repeated, unchanged, until it is answered: the next try goes to the next broker."""

import collections
import threading
import time

import grpc

from support.client import Client, broker_pb2, lease_request, new_id
from support.packs import ATTEMPTS, PACKING, ROWS, TASKS
from support.process import GENEROUS_S

QUEUE, PACKED = "load", "packed"
QUEUES = {QUEUE: ROWS, PACKED: PACKING}  # their settings
# What a slow machine, or a broker under sanitizers, may take longer than a good one.
MACHINE_FACTOR = 6
BACK_WITHIN_S = 5 * MACHINE_FACTOR
WINDOW_S = 1
PAUSE_S = 0.05  # between two tries of a call
PRODUCERS = 2  # of each queue
WORKERS = 4    # of each queue
# As many tasks in a second of both queues. Calls of more than 32 tasks are never handed to workers
# who wait: these would have rows.
TASKS_PER_CALL = {QUEUE: 5, PACKED: 40}
EVERY_S = {QUEUE: 0.05, PACKED: 0.4}
# A lease of few tasks of a pack leaves the rest in rows.
TASKS_PER_LEASE = {QUEUE: 10, PACKED: 40}
LEASE_S = 60
OURS = ("WHERE lane IN (SELECT l.lane FROM skiplane.queue_lane l JOIN skiplane.queue q"
        " ON q.id = l.queue_id WHERE q.name IN ({}))")
ALL_OURS = OURS.format(", ".join(f"'{queue}'" for queue in QUEUES))
WITHOUT_REASON = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.UNKNOWN,
                  grpc.StatusCode.CANCELLED)  # as a broken connection shows


class Load:
    """`tolerated` are names of codes that a fault may answer besides UNAVAILABLE. Half of the
    workers of each queue lease without a request id if `anonymous`."""

    def __init__(self, addresses, tolerated=(), deadline_s=90, anonymous=False):
        self._addresses = addresses
        self._tolerated = {"UNAVAILABLE", *tolerated}
        self._deadline_s = deadline_s
        self._anonymous = anonymous
        self._changed = threading.Condition()
        self._producing, self._working = True, True
        self._acked_at = {queue: collections.deque() for queue in QUEUES}
        self._acks = dict.fromkeys(QUEUES, 0)
        self.enqueued = {}   # payload by id, of what an answer named
        self.acked = {}      # attempt by id, of what an answer called acked
        self.refusals = collections.Counter()  # codes
        self.tries_most = 1  # of one call
        self.wrong = []      # what must not happen
        self._producers = self._threads(self._produce, PRODUCERS)
        self._workers = self._threads(self._work, WORKERS)

    @staticmethod
    def create_queues(client):
        for queue, settings in QUEUES.items():
            client.create_queue(queue, **settings)

    def _threads(self, run, count):
        return [self._thread(run, queue, number) for queue in QUEUES for number in range(count)]

    def _thread(self, run, queue, number):
        def guarded():
            try:
                run(queue, number)
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

    def rates(self):
        """Acks in the last second, of each queue."""
        since = time.monotonic() - WINDOW_S
        for acked_at in self._acked_at.values():
            while acked_at and acked_at[0] < since:
                acked_at.popleft()
        return {queue: len(acked_at) for queue, acked_at in self._acked_at.items()}

    def acks(self, queue):
        """So far."""
        with self._changed:
            return self._acks[queue]

    def wait_for_acks(self, count):
        """From now on, of each queue."""
        before = dict(self._acks)
        self.wait_for(lambda: all(self._acks[queue] >= before[queue] + count for queue in QUEUES),
                      what=f"{count} acks")

    def steady_rates(self):
        self.wait_for_acks(100)
        self.wait_for_acks(100)
        with self._changed:
            return self.rates()

    def wait_for_half(self, rates):
        """From now on: what was acked before does not count."""
        with self._changed:
            for acked_at in self._acked_at.values():
                acked_at.clear()
        self.wait_for(lambda: all(rate >= rates[queue] / 2 for queue, rate in self.rates().items()),
                      BACK_WITHIN_S, f"half of {rates} acks per second")

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
        test.assertEqual(test.database.run(f"SELECT id, state FROM {TASKS} {ALL_OURS}"), [])
        test.assertEqual(test.database.run("SELECT id, gone FROM skiplane.task_pack"), [])
        count = str(len(self.enqueued))
        test.assertEqual(
            test.database.run(f"SELECT count(*), count(DISTINCT (lane, task_id)) FROM {ATTEMPTS}"
                              f" {ALL_OURS} AND outcome = 1"), [(count, count)])
        test.assertEqual(
            test.database.number(f"SELECT count(*) FROM {ATTEMPTS} {ALL_OURS} AND attempt > 1"),
            len(retried))
        self._check_packing(test)

    def _check_packing(self, test):
        """The queues are what they are to be: most tasks of the one were acked in packs, and none
        of the other."""
        in_packs = {queue: test.database.number(
            "SELECT count(*) FROM skiplane.packed_attempt " + OURS.format(f"'{queue}'"))
            for queue in QUEUES}
        test.assertEqual(in_packs[QUEUE], 0)
        test.assertGreater(2 * in_packs[PACKED], self._acks[PACKED])

    def _produce(self, queue, number):
        caller = Caller(self, number)
        call = 0
        while self._producing:
            payloads = [f"{queue}.{number}.{call}.{task}".encode()
                        for task in range(TASKS_PER_CALL[queue])]
            request = broker_pb2.EnqueueRequest(
                queue=queue, request_id=new_id(),
                tasks=[broker_pb2.NewTask(payload=payload) for payload in payloads])
            answer, _ = caller.persist("Enqueue", request)
            call += 1
            with self._changed:
                for payload, result in zip(payloads, answer.results):
                    self.enqueued[result.task_id] = payload
                self._changed.wait_for(lambda: not self._producing, EVERY_S[queue])
        caller.close()

    def _work(self, queue, number):
        caller = Caller(self, number)
        worker_id = new_id()
        repeats = not self._anonymous or number % 2 == 0
        while self._working:
            request = lease_request(queue, max_tasks=TASKS_PER_LEASE[queue], wait=1,
                                    duration=LEASE_S, worker_id=worker_id,
                                    request_id=new_id() if repeats else "")
            tasks, _ = caller.persist("Lease", request)
            if tasks.tasks:
                self._settle(caller, queue, tasks.tasks)
        caller.close()

    def _settle(self, caller, queue, tasks):
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
                self._acks[queue] += 1
                self._acked_at[queue].append(time.monotonic())
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
