"""What an operator sees of a broker: health, reflection, metrics."""

import time
import unittest

import grpc

from support import broker as probes
from support.case import SystemTest
from support.client import DEADLINE_S, admin_pb2, broker_pb2, bulk_pb2, seconds
from support.process import GENEROUS_S

QUEUE = "seen"


class Operation(SystemTest):
    def setUp(self):
        super().setUp()
        self.broker, self.client = self.start()

    def test_health_answers_for_each_service_and_for_liveness(self):
        with grpc.insecure_channel(self.broker.address) as channel:
            for service in ("", probes.BROKER, "skiplane.v1.AdminService", "liveness"):
                self.assertEqual(probes.check(channel, service), probes.SERVING, service)
            with self.assertRaises(grpc.RpcError) as unknown:
                probes.check(channel, "nobody")
            self.assertEqual(unknown.exception.code(), grpc.StatusCode.NOT_FOUND)

    def test_reflection_lists_the_services(self):
        with grpc.insecure_channel(self.broker.address) as channel:
            services = probes.reflected_services(channel)
        for name in (b"skiplane.v1.BrokerService", b"skiplane.v1.AdminService",
                     b"grpc.health.v1.Health"):
            self.assertIn(name, services)

    def test_reflection_can_be_turned_off(self):
        broker = self.start_broker("--reflection=off")
        with grpc.insecure_channel(broker.address) as channel:
            with self.assertRaises(grpc.RpcError) as refusal:
                probes.reflected_services(channel)
        self.assertEqual(refusal.exception.code(), grpc.StatusCode.UNIMPLEMENTED)

    def test_the_counters_tell_what_was_done(self):
        self.client.create_queue(QUEUE)
        self.client.enqueue_all(QUEUE, [broker_pb2.NewTask(key=f"k{n}") for n in range(10)])
        self.client.enqueue(QUEUE, key="k0")
        tasks = self.client.lease(QUEUE, max_tasks=10)
        self.client.ack(*tasks[:6])
        self.client.ack(tasks[0])
        self.client.nack(tasks[6], retry_delay=seconds(0))
        self.client.nack(tasks[7], retry_delay=seconds(3600))
        self.client.nack(tasks[8], "RELEASE")
        self.client.nack(tasks[9], "FAIL")
        self.client.lease(QUEUE, max_tasks=2)
        self.assertEqual(self.client.ack(tasks[6]), ["LEASE_LOST"])
        page = self.broker.metrics()
        for name, labels, wanted in (
                ("tasks_enqueued_total", {"outcome": "created"}, 10),
                ("tasks_enqueued_total", {"outcome": "existing"}, 1),
                ("tasks_leased_total", {"kind": "first"}, 11),
                ("tasks_leased_total", {"kind": "retry"}, 1),
                ("task_attempts_total", {"outcome": "succeeded"}, 6),
                ("task_attempts_total", {"outcome": "retried"}, 2),
                ("task_attempts_total", {"outcome": "released"}, 1),
                ("task_attempts_total", {"outcome": "failed"}, 1),
                ("task_attempts_total", {"outcome": "lost"}, 0),
                ("tasks_finished_total", {"outcome": "succeeded"}, 6),
                ("tasks_finished_total", {"outcome": "failed"}, 1),
                ("task_wait_seconds_count", {}, 12)):
            with self.subTest(name, **labels):
                self.assertEqual(self.sample(page, f"skiplane_{name}", queue=QUEUE, **labels),
                                 wanted)
        self.assertEqual(self.sample(page, "skiplane_lost_lease_items_total", call="ack"), 1)
        self.assertEqual(self.sample(page, "skiplane_batch_tasks_sum", call="enqueue"), 11)
        self.assertEqual(self.sample(page, "grpc_server_call_started_total",
                                     grpc_method="skiplane.v1.BrokerService/Ack"), 3)
        counts = self.client.queue(QUEUE).counts
        self.assertEqual((counts.scheduled_count, counts.ready_count, counts.leased_count,
                          counts.succeeded_count, counts.failed_count), (1, 0, 2, 6, 1))

    # A task that waits, a bulk of them, and one that hangs once missed in the metric.
    def test_every_way_to_be_cancelled_counts(self):
        self.client.create_queue(QUEUE, max_run_duration=seconds(1))
        waiting, hanging = (self.client.enqueue(QUEUE) for _ in range(2))
        self.client.admin.CancelTask(admin_pb2.CancelTaskRequest(task_id=waiting),
                                     timeout=DEADLINE_S)
        self.client.lease(QUEUE, duration=60)
        self.client.admin.CancelTask(admin_pb2.CancelTaskRequest(task_id=hanging),
                                     timeout=DEADLINE_S)
        self.client.enqueue(QUEUE, key="bulk")
        self.client.admin.StartBulkOperation(admin_pb2.StartBulkOperationRequest(
            filter=bulk_pb2.TaskFilter(queue=QUEUE, key_prefix="bulk"),
            action=bulk_pb2.BulkAction(cancel={}), wait=seconds(60)), timeout=90)
        end = time.monotonic() + GENEROUS_S
        while self.client.queue(QUEUE).counts.cancelled_count < 3:
            self.assertLess(time.monotonic(), end, "the task that hangs is not cancelled")
        labels = {"queue": QUEUE, "outcome": "cancelled"}
        while self.sample(self.broker.metrics(), "skiplane_tasks_finished_total", **labels) < 3:
            self.assertLess(time.monotonic(), end, "not all of them are counted")

    def sample(self, page, name, **labels):
        inner = ",".join(f'{label}="{value}"' for label, value in sorted(labels.items()))
        return page[f"{name}{{{inner}}}"]

    def test_the_page_describes_the_process_and_the_database(self):
        self.client.create_queue(QUEUE)
        self.client.enqueue(QUEUE)
        page = self.broker.metrics()
        self.assertEqual(page["skiplane_draining"], 0)
        self.assertGreater(page["process_resident_memory_bytes"], 1 << 20)
        self.assertTrue([name for name in page if name.startswith("skiplane_build_info{")])
        # The broker is ready with the first connection; the others come when they come.
        end = time.monotonic() + GENEROUS_S
        while sum(self.sample(page, "skiplane_db_pool_connections", state=state)
                  for state in ("idle", "busy")) < 2:
            self.assertLess(time.monotonic(), end, "no second connection is opened")
            page = self.broker.metrics()

    def test_one_of_two_brokers_leads_and_the_other_follows_its_death(self):
        other = self.start_broker()
        end = time.monotonic() + GENEROUS_S

        def leads(broker):
            self.assertLess(time.monotonic(), end, "nobody leads alone")
            return broker.metrics()["skiplane_leader"] == 1

        # None leads for a moment, and who leads no more has not noticed yet.
        while leads(self.broker) == leads(other):
            pass
        leader, follower = (self.broker, other) if leads(self.broker) else (other, self.broker)
        leader.kill()
        while not leads(follower):
            pass


if __name__ == "__main__":
    unittest.main()
