"""A queue is removed, empty or with all that is in it, and no answered enqueue is lost."""

import threading
import time
import unittest

import grpc
import psycopg2

from support.by_http import ByHttp
from support.case import SystemTest, slow
from support.client import DEADLINE_S, admin_pb2, bulk_pb2, reason_of, seconds
from support.packs import PACKING, put_packed
from support.process import GENEROUS_S
from support.producer import Producer, arguments
from support.stream import Worker

QUEUE = "old"
DONE, STOPPED, RUNNING = (bulk_pb2.BulkOperationState.Value(f"BULK_OPERATION_STATE_{name}")
                          for name in ("DONE", "STOPPED", "RUNNING"))
# Whatever belongs to a lane.
TABLES = ("task", "task_pack", "task_failed", "task_key", "enqueue_request", "history",
          "pack_history", "hour_statistics", "minute_statistics", "counter", "counter_delta",
          "error_group", "error_delta", "error_note")


@slow
class DeleteQueue(SystemTest):
    def setUp(self):
        super().setUp()
        self.broker, self.client = self.start()
        self.client.create_queue(QUEUE)

    def delete(self, client=None, name=QUEUE, wait=60, **fields):
        request = admin_pb2.DeleteQueueRequest(name=name, wait=seconds(wait), **fields)
        return (client or self.client).admin.DeleteQueue(request, timeout=DEADLINE_S).operation

    def end_of(self, operation, wait=60):
        request = admin_pb2.GetBulkOperationRequest(operation_id=operation.operation_id,
                                                    wait=seconds(wait))
        return self.client.admin.GetBulkOperation(request, timeout=DEADLINE_S).operation

    def rows_left(self):
        counts = " + ".join(f"(SELECT count(*) FROM skiplane.{table})" for table in TABLES)
        return self.database.number(f"SELECT {counts}")

    def test_an_empty_queue_goes_and_its_name_is_free(self):
        self.client.ack(self.client.lease(QUEUE)[0] if self.client.enqueue(QUEUE) else None)
        operation = self.delete()
        self.assertEqual((operation.state, operation.changed_count), (DONE, 0))
        self.assertEqual(operation.filter.queue, QUEUE)
        self.assert_refused("NOT_FOUND", "QUEUE_NOT_FOUND", self.client.queue, QUEUE)
        self.assert_refused("NOT_FOUND", "QUEUE_NOT_FOUND", self.client.enqueue, QUEUE)
        self.assertEqual(self.rows_left(), 0)
        self.client.create_queue(QUEUE, lane_count=2)
        task_id = self.client.enqueue(QUEUE, b"new")
        self.assertEqual(self.client.lease(QUEUE)[0].task_id, task_id)
        self.assertEqual(self.client.queue(QUEUE).counts.succeeded_count, 0)
        audit = self.client.admin.ListAuditRecords(
            admin_pb2.ListAuditRecordsRequest(queue=QUEUE), timeout=DEADLINE_S).records
        self.assertEqual([record.method for record in audit],
                         ["CreateQueue", "BulkOperationDone", "DeleteQueue", "CreateQueue"])

    def test_a_queue_with_tasks_stays(self):
        task_id = self.client.enqueue(QUEUE, b"here", max_attempts=1)
        self.assert_refused("FAILED_PRECONDITION", "QUEUE_NOT_EMPTY", self.delete)
        self.client.nack(self.client.lease(QUEUE)[0], disposition="FAIL")
        self.assert_refused("FAILED_PRECONDITION", "QUEUE_NOT_EMPTY", self.delete)
        self.assertEqual(self.client.state(task_id), "FAILED")
        self.assertFalse(self.client.queue(QUEUE).deleting)

    def test_all_that_is_in_it_goes_with_it(self):
        self.client.create_queue("full", lane_count=3, keep_payloads=True)
        self.client.create_queue("packed", **PACKING)
        put_packed(self.database, self.client, "packed", [b"%d" % number for number in range(200)])
        for number in range(100):
            self.client.enqueue("full", b"x", key=f"key-{number}", request_id=f"request-{number}")
        self.client.enqueue("full", period=seconds(3600))
        self.client.ack(*self.client.lease("full", max_tasks=20))
        self.client.nack(self.client.lease("full")[0], disposition="FAIL")
        self.client.nack(self.client.lease("full")[0])
        held = self.client.lease("full", max_tasks=5) + self.client.lease("packed", max_tasks=30)
        other = self.client.enqueue(QUEUE, b"stays")
        self.assertEqual(self.delete(name="full", with_tasks=True).changed_count, 81)
        self.assertEqual(self.delete(name="packed", with_tasks=True).changed_count, 200)
        self.assertEqual(set(self.client.ack(*held)), {"NOT_FOUND"})
        self.assertEqual(self.client.state(other), "READY")
        self.assertEqual(self.delete(with_tasks=True).changed_count, 1)
        self.assertEqual(self.rows_left(), 0)

    def test_who_waits_for_its_tasks_is_told(self):
        parked = self.client.lease_later(QUEUE, wait=50)
        self.delete()
        self.assert_refused("NOT_FOUND", "QUEUE_NOT_FOUND", parked.result)

    def test_nothing_goes_before_every_broker_knows(self):
        other_broker = self.start_broker()
        other = self.client_of(other_broker)
        task_id = other.enqueue(QUEUE, b"here")
        other_broker.freeze()
        operation = self.delete(wait=1, with_tasks=True)
        self.assertEqual((operation.state, operation.changed_count), (RUNNING, 0))
        self.assertTrue(self.client.queue(QUEUE).deleting)
        self.assertEqual(self.client.state(task_id), "READY")
        for change in (self.client.enqueue, self.client.pause, self.client.create_queue):
            self.assert_refused("FAILED_PRECONDITION", "QUEUE_DELETING", change, QUEUE)
        self.assert_refused("FAILED_PRECONDITION", "QUEUE_DELETING", self.delete)
        self.assertEqual(self.client.lease(QUEUE, wait=0), [])
        # It counts as long as it has connections, though nobody heard of it for long.
        self.database.run("UPDATE skiplane.broker SET expire_time = now() - interval '1 day'")
        self.assertEqual(self.after_another_step(operation).state, RUNNING)
        other_broker.thaw()
        self.assertEqual(self.end_of(operation).state, DONE)
        end = time.monotonic() + GENEROUS_S
        while self.refusal_of(other) == "QUEUE_DELETING":  # until it hears of the end, too
            self.assertLess(time.monotonic(), end)
        self.assertEqual(self.refusal_of(other), "QUEUE_NOT_FOUND")

    def refusal_of(self, client):
        with self.assertRaises(grpc.RpcError) as refusal:
            client.enqueue(QUEUE)
        return reason_of(refusal.exception)

    def after_another_step(self, operation):
        update_time = ("SELECT update_time FROM skiplane.bulk_operation"
                       f" WHERE id = '{operation.operation_id}'")
        before = self.database.value(update_time)
        self.database.eventually(f"SELECT ({update_time}) > '{before}'", "t")
        return self.end_of(operation, wait=0)

    def test_a_killed_broker_holds_nothing_up(self):
        other_broker = self.start_broker()
        self.client_of(other_broker).enqueue(QUEUE)
        other_broker.kill()
        self.assertEqual(self.delete(with_tasks=True).state, DONE)

    def test_a_broker_that_was_cut_off_believes_nothing_that_it_knew(self):
        other_broker = self.start_broker()
        other = self.client_of(other_broker)
        for _ in range(2):
            other.enqueue(QUEUE)  # it knows the queue
        other_broker.freeze()
        self.database.run(
            "SELECT pg_terminate_backend(a.pid) FROM pg_stat_activity a, skiplane.broker b"
            f" WHERE b.name LIKE '%:{other_broker.pid}' AND a.application_name ="
            " 'skiplaned ' || left(replace(b.id::text, '-', ''), 16)")
        self.assertEqual(self.delete(with_tasks=True).state, DONE)
        self.client.create_queue(QUEUE)
        answered = []

        def produce():
            for _ in range(50):
                try:
                    answered.append(other.enqueue(QUEUE))
                except grpc.RpcError:
                    pass

        threads = [threading.Thread(target=produce) for _ in range(4)]
        for thread in threads:
            thread.start()
        other_broker.thaw()
        for thread in threads:
            thread.join()
        self.assertEqual(self.client.queue(QUEUE).counts.ready_count, len(answered))
        self.assertEqual(self.database.number(
            "SELECT count(*) FROM skiplane.task WHERE lane NOT IN"
            " (SELECT lane FROM skiplane.queue_lane)"), 0)

    def test_a_stopped_deletion_leaves_the_queue(self):
        other = self.start_broker()
        self.client.enqueue(QUEUE, b"first")
        other.freeze()
        operation = self.delete(wait=0, with_tasks=True)
        stopped = self.client.admin.StopBulkOperation(admin_pb2.StopBulkOperationRequest(
            operation_id=operation.operation_id), timeout=DEADLINE_S).operation
        self.assertEqual(stopped.state, STOPPED)
        other.thaw()
        self.assertFalse(self.client.queue(QUEUE).deleting)
        self.client.enqueue(QUEUE, b"second")
        self.assertEqual([task.payload for task in self.client.lease(QUEUE, max_tasks=5)],
                         [b"first", b"second"])

    def test_another_broker_goes_on_with_it(self):
        other_broker = self.start_broker()
        other = self.client_of(other_broker)
        third = self.start_broker()
        self.client.enqueue(QUEUE)
        third.freeze()
        operation = self.delete(client=other, wait=0, with_tasks=True)
        other_broker.kill()
        third.thaw()
        self.assertEqual(self.end_of(operation).state, DONE)

    def test_a_stale_etag_and_a_repeat(self):
        stale = self.client.queue(QUEUE).etag
        self.client.pause(QUEUE)
        self.assert_refused("ABORTED", "ETAG_MISMATCH", self.delete, etag=stale)
        self.client.resume(QUEUE)
        etag = self.client.queue(QUEUE).etag
        first = self.delete(etag=etag, request_id="once")
        again = self.delete(etag=etag, request_id="once")
        self.assertEqual((first.operation_id, again.state), (again.operation_id, DONE))
        self.assert_refused("NOT_FOUND", "QUEUE_NOT_FOUND", self.delete)

    def test_a_task_of_a_transaction_that_began_before_is_not_lost(self):
        producer = Producer(self.database)
        self.addCleanup(producer.end)
        connection = psycopg2.connect(producer.uri)
        self.addCleanup(connection.close)
        cursor = connection.cursor()
        cursor.execute(f"SELECT skiplane.enqueue({arguments(QUEUE, b'late')})")
        operation = self.delete(wait=1)
        self.assertEqual(operation.state, RUNNING)  # it waits for the transaction
        connection.commit()
        self.assertEqual(self.end_of(operation).state, STOPPED)
        queue = self.client.queue(QUEUE)
        self.assertEqual((queue.deleting, queue.counts.ready_count), (False, 1))
        self.assertEqual(self.client.lease(QUEUE)[0].payload, b"late")

    def test_a_producer_by_sql_is_refused(self):
        producer = Producer(self.database)
        self.addCleanup(producer.end)
        other = self.start_broker()
        other.freeze()
        operation = self.delete(wait=0)
        with self.assertRaisesRegex(Exception, "is being deleted"):
            producer.enqueue(QUEUE)
        other.thaw()
        self.assertEqual(self.end_of(operation).state, DONE)

    def test_no_answered_enqueue_is_lost_in_a_race(self):
        """The other broker lets tasks in until it hears of the deletion."""
        other = self.client_of(self.start_broker())
        for attempt in range(8):
            queue = f"race-{attempt}"
            self.client.create_queue(queue)
            other.queue(queue)
            answered, refused, begin = [], [], threading.Barrier(5)

            def produce(queue=queue, answered=answered, refused=refused, begin=begin):
                begin.wait()
                while not refused:
                    try:
                        answered.append(other.enqueue(queue))
                    except grpc.RpcError as error:
                        refused.append(reason_of(error))
                    if len(answered) > 100:
                        return

            threads = [threading.Thread(target=produce) for _ in range(4)]
            for thread in threads:
                thread.start()
            operation = self.delete(name=queue, wait=0)
            begin.wait()
            for thread in threads:
                thread.join()
            state = self.end_of(operation).state
            self.assertLessEqual(set(refused), {"QUEUE_DELETING", "QUEUE_NOT_FOUND"})
            kept = self.database.number(
                "SELECT count(*) FROM skiplane.task t JOIN skiplane.queue_lane l USING (lane)"
                f" JOIN skiplane.queue q ON q.id = l.queue_id WHERE q.name = '{queue}'")
            self.assertEqual(kept, len(answered), "answered, and lost")
            self.assertEqual(state == DONE, not answered)


class Streams(SystemTest):
    def test_a_worker_of_the_queue_is_told(self):
        _, client = self.start()
        client.create_queue(QUEUE)
        worker = Worker(client, QUEUE, credit=5)
        worker.wait_for_welcome()
        client.admin.DeleteQueue(admin_pb2.DeleteQueueRequest(name=QUEUE, wait=seconds(60)),
                                 timeout=DEADLINE_S)
        refusal = worker.refusal()
        self.assertEqual((refusal.code().name, reason_of(refusal)),
                         ("NOT_FOUND", "QUEUE_NOT_FOUND"))


class DeleteQueueByHttp(ByHttp, DeleteQueue):
    pass


if __name__ == "__main__":
    unittest.main()
