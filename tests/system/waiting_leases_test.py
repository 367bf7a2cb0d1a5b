"""Many workers behind one connection: all are served, and those that are too many are told."""

import queue
import time
import unittest

from support.case import SystemTest, leases_begun
from support.client import DEADLINE_S, broker_pb2, queue_pb2, reason_of, retry_delay_of, seconds
from support.process import GENEROUS_S

QUEUE = "busy"
WORKERS = 1000
DURATION_S = 60


class OneConnection(SystemTest):
    def start(self, *flags):
        broker, client = super().start(*flags)
        client.create_queue(QUEUE)
        client.create_queue("other")
        return broker, client

    def park_all(self, broker, client, count):
        """Leases of workers of their own, all of which the broker has."""
        before = leases_begun(broker)
        calls = [client.lease_later(QUEUE, worker_id=f"w{i}", duration=DURATION_S)
                 for i in range(count)]
        end = time.monotonic() + GENEROUS_S
        while leases_begun(broker) < before + count:
            self.assertLess(time.monotonic(), end, "the leases do not reach the broker")
        return calls

    def park_too_many(self, client, allowed, extra):
        """Leases that wait, and the refusals of the others."""
        ended = queue.Queue()
        calls = []
        for i in range(allowed + extra):
            calls.append(client.lease_later(QUEUE, worker_id=f"w{i}", duration=DURATION_S))
            calls[-1].add_done_callback(ended.put)
        refused = [ended.get(timeout=GENEROUS_S) for _ in range(extra)]
        for call in refused:
            self.assertEqual((call.code().name, reason_of(call)),
                             ("RESOURCE_EXHAUSTED", "TOO_MANY_WAITING_CALLS"))
            self.assertGreater(retry_delay_of(call), 0)
        return [call for call in calls if call not in refused]

    def assert_cycle(self, client):
        """Everything but a wait goes on."""
        client.enqueue("other", b"x")
        [task] = client.lease("other", wait=0, worker_id="w0", duration=DURATION_S)
        self.assertTrue(client.heartbeat("w0", DURATION_S, task).session_alive)
        self.assertEqual(client.ack(task), ["SETTLED"])

    def test_a_thousand_workers_wait_beat_and_ack(self):
        broker, client = self.start()
        calls = self.park_all(broker, client, WORKERS)
        self.assert_cycle(client)
        client.enqueue_all(QUEUE, [client.new_task(str(i).encode()) for i in range(WORKERS)])
        tasks = [task for call in calls for task in call.result().tasks]
        self.assertEqual({task.payload for task in tasks},
                         {str(i).encode() for i in range(WORKERS)})

        heartbeats = [client.broker.Heartbeat.future(
            broker_pb2.HeartbeatRequest(worker_id=f"w{i}", lease_duration=seconds(DURATION_S)),
            timeout=DEADLINE_S) for i in range(WORKERS)]
        acks = [client.broker.Ack.future(
            broker_pb2.AckRequest(items=[broker_pb2.AckItem(lease_token=task.lease_token)]),
            timeout=DEADLINE_S) for task in tasks]
        self.assertTrue(all(heartbeat.result().session_alive for heartbeat in heartbeats))
        self.assertEqual([ack.result().results[0].outcome for ack in acks],
                         [broker_pb2.SETTLE_OUTCOME_SETTLED] * WORKERS)

    def test_those_above_the_limit_are_answered_and_nobody_else_is_kept_out(self):
        broker, client = self.start("--max-waiting-calls-per-connection=50")
        calls = self.park_too_many(client, 50, extra=10)
        self.assert_cycle(client)

        elsewhere = self.client_of(broker)
        waiting = elsewhere.lease_later(QUEUE)
        client.enqueue_all(QUEUE, [client.new_task()] * 51)
        self.assertEqual([len(call.result().tasks) for call in [*calls, waiting]], [1] * 51)

    def test_an_ack_is_done_though_its_next_lease_may_not_wait(self):
        _, client = self.start("--max-waiting-calls-per-connection=1")
        client.enqueue("other")
        [task] = client.lease("other", wait=0)
        [waiting] = self.park_too_many(client, 1, extra=1)
        request = broker_pb2.AckRequest(
            items=[broker_pb2.AckItem(lease_token=task.lease_token)],
            lease_next=broker_pb2.LeaseRequest(queues=[broker_pb2.LeaseQueue(name="other")],
                                               max_tasks=1, wait=seconds(60)))
        response = client.broker.Ack(request, timeout=DEADLINE_S)
        self.assertEqual(response.results[0].outcome, broker_pb2.SETTLE_OUTCOME_SETTLED)
        self.assertEqual(len(response.lease.tasks), 0)
        waiting.cancel()

    def test_leases_that_fill_the_broker_keep_nothing_else_out(self):
        broker, client = self.start("--max-waiting-calls=3")
        self.park_too_many(client, 3, extra=2)
        self.assert_cycle(client)
        self.assert_cycle(self.client_of(broker))


class Counted(SystemTest):
    def test_a_call_counts_once_however_many_lanes_and_stages_it_waits_in(self):
        broker, client = self.start()
        client.create_queue("wide", lane_count=4,
                            stages=[queue_pb2.Stage(name=name) for name in "ab"])
        parked = [self.park(broker, client, "wide", wait=DURATION_S) for _ in range(3)]
        name = 'skiplane_queue_waiting_leases{queue="wide"}'
        end = time.monotonic() + GENEROUS_S
        while broker.metrics().get(name) != 3:
            self.assertLess(time.monotonic(), end, broker.metrics().get(name))
        for call in parked:
            call.cancel()


if __name__ == "__main__":
    unittest.main()
