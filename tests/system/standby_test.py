"""A synchronous standby that is away: commits wait for it, and nothing piles up meanwhile. When it
is back, or is not waited for any more, all goes on by itself and nothing is lost."""

import threading
import time
import unittest

import grpc

from support import broker as brokers
from support.case import SystemTest, slow
from support.client import DEADLINE_S, broker_pb2, reason_of
from support.cluster import Cluster
from support.database import Database, run_sql

QUEUE = "replicated"
CONNECTIONS = 4
CALLERS = 8
WAITING = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
LOOK_S = 60


class StandbyAway(SystemTest):
    def setUp(self):
        self.cluster = Cluster()
        self.addCleanup(self.cluster.end)
        self.database = Database(self.cluster)
        self.stopping = threading.Event()
        self.told = set()

    def await_standby(self, name):
        run_sql(self.cluster.uri("postgres") + "&options=-c%20synchronous_commit%3Dlocal",
                f"ALTER SYSTEM SET synchronous_standby_names = '{name}'")
        run_sql(self.cluster.uri("postgres"), "SELECT pg_reload_conf()")

    def call(self, broker, number):
        client = self.client_of(broker)
        while not self.stopping.is_set():
            request = broker_pb2.EnqueueRequest(queue=QUEUE, tasks=[broker_pb2.NewTask()],
                                                request_id=f"{number}")
            try:
                client.broker.Enqueue(request, timeout=DEADLINE_S)
                return
            except grpc.RpcError as error:
                self.told.add(reason_of(error))
                self.stopping.wait(0.2)

    def waiting(self):
        return int(run_sql(self.cluster.uri("postgres"), WAITING)[0][0])

    @slow
    def test_backends_that_wait_for_a_standby_do_not_pile_up(self):
        broker, client = self.start(f"--database-connections={CONNECTIONS}")
        client.create_queue(QUEUE)
        self.await_standby("away")
        callers = [threading.Thread(target=self.call, args=(broker, n)) for n in range(CALLERS)]
        for caller in callers:
            caller.start()
        with grpc.insecure_channel(broker.address) as channel:
            statuses = channel_statuses(channel)
            next(status for status in statuses if status == brokers.NOT_SERVING)
            broker.wait_for_output("database_unusable reason=SYNCHRONOUS_STANDBY_AWAY")
            end = time.monotonic() + LOOK_S
            while time.monotonic() < end:
                # Those of the pool and of upkeep, once each.
                self.assertLessEqual(self.waiting(), CONNECTIONS + 1)
                self.stopping.wait(0.5)
            self.assertIn("SYNCHRONOUS_STANDBY_AWAY", self.told)
            self.await_standby("")
            next(status for status in statuses if status == brokers.SERVING)
        for caller in callers:
            caller.join()
        self.assertEqual(client.queue(QUEUE).counts.ready_count, CALLERS)
        broker.wait_for_output(" database_usable")
        self.assertEqual(broker.output.count(" database_unusable "), 1, broker.output)


def channel_statuses(channel):
    """Like watch(), for longer than a minute."""
    return channel.unary_stream("/grpc.health.v1.Health/Watch")(
        brokers.health_request(""), timeout=4 * LOOK_S, wait_for_ready=True)


if __name__ == "__main__":
    unittest.main()
