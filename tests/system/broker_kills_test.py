"""A broker that is killed again and again, at random moments of what moves tasks on: of acks that
move a task to its next stage, and of acks that arm a periodic task again. No stage and no planned
time is lost, and none is run to its end twice.

SKIPLANE_TEST_KILLS sets how often it is killed (50), SKIPLANE_TEST_SEED repeats a run's moments.
"""

import os
import random
import threading
import unittest

import grpc

from support.case import SystemTest, slow
from support.client import (Client, broker_pb2, lease_request, new_id, queue_pb2,
                            seconds)

QUEUE = "moved"
KILLS = int(os.environ.get("SKIPLANE_TEST_KILLS", "50"))
WORKERS = 4
MOMENTS_S = 0.08  # a kill comes at most so long after the work goes on


@slow
class Kills(SystemTest):
    def setUp(self):
        super().setUp()
        self.seed = int(os.environ.get("SKIPLANE_TEST_SEED", "0")) or random.randrange(1, 10**9)
        self.random = random.Random(self.seed)
        self.broker = self.start_broker()
        self.over = threading.Event()
        self.acks = 0
        self.acked = threading.Event()  # set by each acked item; cleared by each kill
        self.up = threading.Event()  # whether a broker runs
        self.up.set()
        self.is_given_up = False  # there is no broker any more

    def work(self, is_chained):
        """Leases and acks at the broker of the moment; repeats each call until it is answered. If
        it is chained, each ack leases the next tasks."""
        worker_id, open_items, request_id = new_id(), [], new_id()
        while not self.over.is_set() or open_items:
            self.up.wait()
            if self.is_given_up:
                return
            client = Client(self.broker.address)
            try:
                while not self.over.is_set() or open_items:
                    lease = None if self.over.is_set() else lease_request(
                        QUEUE, wait=0.2, max_tasks=5, duration=2, worker_id=worker_id,
                        request_id=request_id)
                    if open_items:
                        chained = lease if is_chained else None
                        open_items = self.settle(client, open_items, chained)
                    elif lease is not None:
                        open_items = client.broker.Lease(lease, timeout=60).tasks
                    request_id = new_id()
            except grpc.RpcError as error:
                if error.code() not in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.UNKNOWN):
                    raise
            finally:
                client.close()

    def settle(self, client, tasks, lease):
        """The tasks that were leased with it."""
        items = [broker_pb2.AckItem(lease_token=task.lease_token) for task in tasks]
        response = client.broker.Ack(broker_pb2.AckRequest(items=items, lease_next=lease),
                                     timeout=60)
        acked = sum(result.outcome == broker_pb2.SETTLE_OUTCOME_SETTLED
                    for result in response.results)
        if acked:
            self.acks += acked
            self.acked.set()
        return response.lease.tasks

    def kill_again_and_again(self):
        workers = [threading.Thread(target=self.work, args=[i % 2 == 0]) for i in range(WORKERS)]
        for worker in workers:
            worker.start()
        try:
            for _ in range(KILLS):
                self.assertTrue(self.acked.wait(120), "no ack after a restart")
                self.over.wait(self.random.random() * MOMENTS_S)  # the moment, not a wait for work
                self.up.clear()
                self.broker.kill()
                self.broker.end()
                self.acked.clear()
                self.broker = self.start_broker()
                self.up.set()
        except BaseException:
            self.is_given_up = True
            raise
        finally:
            self.over.set()
            self.up.set()
            for worker in workers:
                worker.join()

    def assert_none(self, sql):
        rows = self.database.run(sql)
        self.assertEqual(rows, [], f"seed {self.seed}")

    def test_no_stage_is_lost_or_run_twice(self):
        client = self.client_of(self.broker)
        client.create_queue(QUEUE, stages=[queue_pb2.Stage(name=name) for name in "abc"],
                            retry=queue_pb2.RetryPolicy(max_attempts=1000))
        tasks = 40 * KILLS
        for start in range(0, tasks, 1000):
            client.enqueue_all(QUEUE, [client.new_task() for _ in range(min(1000, tasks - start))])
        self.kill_again_and_again()
        self.assert_none("SELECT task_id, stage FROM skiplane.history WHERE outcome = 1"
                         " GROUP BY 1, 2 HAVING count(*) > 1")
        # Each task is where its acks have brought it: at the next stage, or gone after the last.
        self.assert_none(
            "SELECT h.task_id, h.acked, t.stage FROM (SELECT task_id, count(*) AS acked"
            " FROM skiplane.history WHERE outcome = 1 GROUP BY 1) h"
            " LEFT JOIN skiplane.task t ON t.id = h.task_id"
            " WHERE h.acked IS DISTINCT FROM coalesce(t.stage, 3)")
        self.assertEqual(tasks, self.database.number(
            "SELECT (SELECT count(*) FROM skiplane.task) + (SELECT count(*) FROM skiplane.history"
            " WHERE outcome = 1 AND ends_task)"))
        self.assertGreaterEqual(self.acks, KILLS)

    def test_no_planned_time_is_lost_or_run_twice(self):
        client = self.client_of(self.broker)
        client.create_queue(QUEUE, periodic_history=queue_pb2.HISTORY_POLICY_ALL,
                            retry=queue_pb2.RetryPolicy(max_attempts=1000))
        client.enqueue_all(QUEUE, [client.new_task(period=seconds(1), catch_up="CATCH_UP_RUN_ALL")
                                   for _ in range(20)])
        # As if nobody had worked for a long time: there is always another time to be run.
        self.database.run("UPDATE skiplane.task"
                          " SET planned_time = planned_time - interval '30 days',"
                          " schedule_time = schedule_time - interval '30 days'")
        self.kill_again_and_again()
        # Every second since the first one, once each, up to what is planned next.
        self.assert_none("SELECT task_id, schedule_time FROM skiplane.history WHERE outcome = 1"
                         " GROUP BY 1, 2 HAVING count(*) > 1")
        self.assert_none(
            "SELECT h.task_id FROM (SELECT task_id, count(*) AS acked, min(schedule_time) AS first,"
            " max(schedule_time) AS last FROM skiplane.history WHERE outcome = 1 GROUP BY 1) h"
            " JOIN skiplane.task t ON t.id = h.task_id"
            " WHERE h.last <> h.first + interval '1 s' * (h.acked - 1)"
            " OR t.planned_time <> h.last + interval '1 s'")
        self.assertEqual(self.database.number("SELECT count(*) FROM skiplane.task"), 20)
        self.assertGreaterEqual(self.acks, KILLS)


if __name__ == "__main__":
    unittest.main()
