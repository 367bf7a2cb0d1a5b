"""Whoever has many leases waiting gets a share, not all: who else waits gets theirs."""

import subprocess
import threading
import time
import unittest

from support.broker import program
from support.case import SystemTest, leases_begun
from support.client import DEADLINE_S, broker_pb2, lease_request
from support.folder import Folder
from support.process import GENEROUS_S

QUEUES = [f"q{number}" for number in range(20)]
GREEDY_LEASES = 1000
TASKS = 10
ROUNDS = 5


class Shares(SystemTest):
    """Without credentials there is one principal: workers have shares."""

    GREEDY_WORKERS = 1  # names that the greedy client gives itself

    def setUp(self):
        super().setUp()
        self.tokens = {}
        self.broker, self.client = self.start("--auto-create-queues", *self.make_flags())
        for queue in QUEUES:
            self.enqueue(queue, 1)
            self.assertEqual(len(self.lease("good", queue).result().tasks), 1)
        leases = [(QUEUES[number % len(QUEUES)],
                   f"g{number // len(QUEUES) % self.GREEDY_WORKERS}")
                  for number in range(GREEDY_LEASES)]
        # Whose session is not known yet is served by a later statement than the others.
        workers = sorted({worker for _, worker in leases})
        self.enqueue(QUEUES[0], len(workers))
        for call in [self.lease("greedy", QUEUES[0], worker) for worker in workers]:
            self.assertEqual(len(call.result().tasks), 1)
        self.parked = self.park(  # who drops a call cancels it
            lambda queue, worker: self.lease("greedy", queue, worker, max_tasks=TASKS), leases)

    def make_flags(self):
        return []

    def metadata(self, who):
        return self.tokens.get(who)

    def enqueue(self, queue, count):
        """In one commit."""
        request = broker_pb2.EnqueueRequest(queue=queue, tasks=[{}] * count)
        self.client.broker.Enqueue(request, timeout=DEADLINE_S, metadata=self.metadata("good"))

    def lease(self, who, queue, worker="w", **fields):
        fields.setdefault("wait", GENEROUS_S)
        return self.client.broker.Lease.future(lease_request(queue, worker_id=worker, **fields),
                                               timeout=DEADLINE_S, metadata=self.metadata(who))

    def park(self, begin, calls):
        """The broker has them all, and found nothing for those who came after them."""
        end = time.monotonic() + GENEROUS_S
        before = leases_begun(self.broker)
        parked = [begin(*call) for call in calls]
        while leases_begun(self.broker) < before + len(calls):
            self.assertLess(time.monotonic(), end, "the leases do not reach the broker")
        for queue in {call[0] for call in calls}:
            self.assertEqual(len(self.lease("good", queue, "later", wait=0).result().tasks), 0)
        return parked

    def test_tasks_of_one_commit_are_shared(self):
        calls = self.park(lambda queue: self.lease("good", queue, max_tasks=TASKS),
                          [(queue,) for queue in QUEUES])
        for queue in QUEUES:
            self.enqueue(queue, TASKS)
        self.assertEqual([len(call.result().tasks) for call in calls], [TASKS // 2] * len(QUEUES))

    def test_of_tasks_that_come_one_by_one_every_other_one_is_theirs(self):
        answered = threading.Semaphore(0)
        for call in self.parked:
            call.add_done_callback(lambda _: answered.release())
        for _ in range(ROUNDS):
            calls = self.park(lambda queue: self.lease("good", queue),
                              [(queue,) for queue in QUEUES])
            for _ in range(2):
                for queue in QUEUES:
                    self.enqueue(queue, 1)
            self.assertEqual([len(call.result().tasks) for call in calls], [1] * len(QUEUES))
            # The other task of each queue has gone to a parked lease before the next ones come.
            for _ in QUEUES:
                self.assertTrue(answered.acquire(timeout=GENEROUS_S), "the others got none")


class SharesOfPrincipals(Shares):
    """However many workers the greedy client invents, it is one principal."""

    GREEDY_WORKERS = GREEDY_LEASES

    def make_flags(self):
        files = Folder()
        self.addCleanup(files.remove)
        lines = []
        for name in ("good", "greedy"):
            token, line = subprocess.run([program(), "make-token", name], check=True, text=True,
                                         capture_output=True).stdout.splitlines()[:2]
            self.tokens[name] = [("authorization", f"Bearer {token}")]
            lines.append(line)
        files.write("tokens", "\n".join(lines))
        files.write("rules", "allow token:good to all on *\nallow token:greedy to all on *\n")
        return [f"--token-file={files.path('tokens')}", f"--rules-file={files.path('rules')}"]


if __name__ == "__main__":
    unittest.main()
