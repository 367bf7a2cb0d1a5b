"""SIGTERM: everybody is answered, nothing is stranded, and the broker ends with 0."""

import concurrent.futures
import os
import select
import threading
import unittest

import grpc

from support import broker as probes
from support.case import SystemTest
from support.client import broker_pb2, new_id, reason_of

QUEUE = "drained"
WORKERS = 8
PARKED = 12


class Drain(SystemTest):
    def setUp(self):
        super().setUp()
        self.broker, self.client = self.start()
        self.client.create_queue(QUEUE)
        self.client.create_queue("idle")
        self.changed = threading.Condition()
        self.enqueued, self.received, self.acked = set(), set(), set()

    def produce(self, number):
        client = self.client_of(self.broker)
        for call in range(100000):
            payloads = [f"{number}.{call}.{task}" for task in range(5)]
            try:
                client.enqueue_all(QUEUE, [broker_pb2.NewTask(payload=payload.encode())
                                           for payload in payloads])
            except grpc.RpcError as error:
                return error
            with self.changed:
                self.enqueued |= set(payloads)
        return None

    def work(self):
        client = self.client_of(self.broker)
        while True:
            try:
                tasks = client.lease(QUEUE, max_tasks=3, worker_id=new_id())
                payloads = {task.payload.decode() for task in tasks}
                with self.changed:
                    self.received |= payloads
                if tasks:
                    client.ack(*tasks)
            except grpc.RpcError as error:
                return error
            with self.changed:
                self.acked |= payloads
                self.changed.notify_all()

    def test_sigterm_under_load_answers_everybody_and_strands_nothing(self):
        with concurrent.futures.ThreadPoolExecutor(WORKERS + 2) as pool:
            parked = [self.client.lease_later("idle") for _ in range(PARKED - 1)]
            parked.append(self.park(self.broker, self.client, "idle"))
            calls = [pool.submit(self.produce, number) for number in range(2)]
            calls += [pool.submit(self.work) for _ in range(WORKERS)]
            with self.changed:
                self.assertTrue(self.changed.wait_for(lambda: len(self.acked) > 300, 60))
            self.assertEqual(self.broker.terminate(), 0)
            for call in calls:
                self.assertEqual(call.result().code(), grpc.StatusCode.UNAVAILABLE, call.result())
        for call in parked:  # OK and empty, long before their wait was over
            self.assertEqual(list(call.result().tasks), [])
        rows = self.database.run("SELECT convert_from(payload, 'UTF8'), state, attempt"
                                 " FROM skiplane.task")
        held = {payload for payload, state, _ in rows if state == "2"}
        self.assertLessEqual(held, self.received, "leased by nobody")
        self.assertEqual([row for row in rows if row[1] == "1" and row[2] != "0"], [])
        done = self.database.number("SELECT count(*) FROM skiplane.history WHERE outcome = 1")
        self.assertGreaterEqual(done, len(self.acked))
        self.assertFalse(self.acked & {payload for payload, _, _ in rows})
        self.assertGreaterEqual(done + len(rows), len(self.enqueued))
        self.assertLessEqual(self.enqueued - self.received, {payload for payload, _, _ in rows})

    def test_the_broker_is_not_ready_first_and_alive_to_the_end(self):
        with grpc.insecure_channel(self.broker.address) as channel:
            readiness = probes.watch(channel)
            service = probes.watch(channel, probes.BROKER)
            liveness = probes.watch(channel, "liveness")
            for stream in (readiness, service, liveness):
                self.assertEqual(next(stream), probes.SERVING)
            # An enqueue on its way holds the drain up, as long as we like.
            lock = self.database.hold_writes()
            enqueue = self.client.broker.Enqueue.future(broker_pb2.EnqueueRequest(
                queue=QUEUE, tasks=[broker_pb2.NewTask(payload=b"open")]), timeout=90)
            self.database.wait_for_lock_wait()
            self.broker.signal(15)
            self.assertEqual(next(readiness), probes.NOT_SERVING)
            self.assertEqual(next(service), probes.NOT_SERVING)
            self.assertFalse(enqueue.done())
            lock.release()
            self.assertEqual(len(enqueue.result().results), 1)
            self.assertEqual(self.broker.wait(), 0)
            self.assertEqual(self.rest_of(liveness), [])
        self.assertEqual(self.database.number("SELECT count(*) FROM skiplane.task"), 1)

    def rest_of(self, stream):
        found = []
        try:
            for status in stream:
                found.append(status)
        except grpc.RpcError:
            pass
        return found

    def test_a_call_that_never_ends_does_not_keep_the_broker(self):
        broker = self.start_broker("--drain-timeout=1s")
        client = self.client_of(broker)
        lock = self.database.hold_writes()
        enqueue = client.broker.Enqueue.future(broker_pb2.EnqueueRequest(
            queue=QUEUE, tasks=[broker_pb2.NewTask()]), timeout=90)
        self.database.wait_for_lock_wait()
        broker.signal(15)
        self.assertEqual(broker.wait(), 0)
        self.assertIn(enqueue.code(), (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED,
                                       grpc.StatusCode.UNKNOWN), reason_of(enqueue))
        lock.release()

    def test_what_workers_hold_outlives_the_broker(self):
        self.client.enqueue(QUEUE, b"held")
        [task] = self.client.lease(QUEUE, worker_id="w")
        self.assertEqual(self.broker.terminate(), 0)
        _, client = self.start()
        self.assertTrue(client.heartbeat("w", 30, task).session_alive)
        self.assertEqual(client.ack(task), ["SETTLED"])

    def hold_up(self, *flags, signals=(15,)):
        """A broker that drains until the lock is released; the call that holds it up."""
        broker = self.start_broker(*flags)
        client = self.client_of(broker)
        lock = self.database.hold_writes()
        enqueue = client.broker.Enqueue.future(broker_pb2.EnqueueRequest(
            queue=QUEUE, tasks=[broker_pb2.NewTask()]), timeout=90)
        self.database.wait_for_lock_wait()
        broker.freeze()  # they arrive together
        for number in signals:
            broker.signal(number)
        broker.thaw()
        broker.wait_for_output(" draining ")
        return broker, lock, enqueue

    # GNU timeout signals the process, and then its group.
    def test_a_second_signal_at_once_is_the_same_request(self):
        broker, lock, enqueue = self.hold_up(signals=(15, 2))
        lock.release()
        self.assertEqual(len(enqueue.result().results), 1)
        self.assertEqual(broker.wait(), 0)
        self.assertNotIn("ended_at_once", broker.output)

    def test_a_later_signal_ends_the_broker_at_once(self):
        broker, lock, _ = self.hold_up("--drain-timeout=5m")
        end = os.pidfd_open(broker.pid)
        self.addCleanup(os.close, end)
        while not select.select([end], [], [], 0.1)[0]:  # until a second has passed
            broker.signal(15)
        self.assertEqual(broker.wait(), 1)
        self.assertIn("warn ended_at_once signal=15 ", broker.output)
        lock.release()

    def test_sigint_drains_too(self):
        parked = self.park(self.broker, self.client, QUEUE)
        self.broker.signal(2)
        self.assertEqual(self.broker.wait(), 0)
        self.assertEqual(list(parked.result().tasks), [])


if __name__ == "__main__":
    unittest.main()
