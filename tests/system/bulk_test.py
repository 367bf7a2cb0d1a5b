"""Changes of many tasks at once: what they match, how they go on, how they stop."""

import time
import unittest

from support.case import SystemTest, slow
from support.client import admin_pb2, bulk_pb2, seconds, task_pb2
from support.process import GENEROUS_S

QUEUE = "bulk"


class Bulk(SystemTest):
    STARTED = ('grpc_server_call_started_total'
               '{grpc_method="skiplane.v1.AdminService/GetBulkOperation"}')

    def setUp(self):
        super().setUp()
        self.broker, self.client = self.start()
        self.client.create_queue(QUEUE)

    def put(self, count, **fields):
        results = []
        for start in range(0, count, 1000):
            tasks = [self.client.new_task(**fields) for _ in range(min(1000, count - start))]
            results += self.client.enqueue_all(QUEUE, tasks)
        return [result.task_id for result in results]

    def start_bulk(self, action, dry_run=False, wait=60, **filters):
        request = admin_pb2.StartBulkOperationRequest(
            filter=bulk_pb2.TaskFilter(queue=QUEUE, **filters),
            action=bulk_pb2.BulkAction(**action), dry_run=dry_run, wait=seconds(wait))
        return self.client.admin.StartBulkOperation(request, timeout=90).operation

    def get(self, operation_id, wait=0):
        request = admin_pb2.GetBulkOperationRequest(operation_id=operation_id, wait=seconds(wait))
        return self.client.admin.GetBulkOperation(request, timeout=90).operation

    def assert_done(self, operation, matched, changed):
        self.assertEqual((operation.state, operation.matched_count, operation.changed_count),
                         (bulk_pb2.BULK_OPERATION_STATE_DONE, matched, changed))

    def test_a_dry_run_counts_and_changes_nothing(self):
        self.put(30, priority=5)
        self.put(7, priority=1)
        self.assert_done(self.start_bulk({"set_priority": 0}, dry_run=True, priority=5), 30, 0)
        self.assertEqual(self.database.number(
            "SELECT count(*) FROM skiplane.packed_task WHERE priority = 5"), 30)

    def test_thousands_get_another_priority(self):
        self.put(5000, priority=5)
        [urgent] = self.put(1, priority=3)
        self.assert_done(self.start_bulk({"set_priority": -1}, priority=5), 5000, 5000)
        self.assertEqual(self.client.lease(QUEUE)[0].priority, -1)
        self.assertEqual(self.client.task(urgent).priority, 3)

    def test_delayed_tasks_run_now_and_wake_workers(self):
        self.put(3, delay=seconds(3600))
        parked = self.client.lease_later(QUEUE)
        self.assert_done(self.start_bulk({"run_now": {}}, states=["TASK_STATE_SCHEDULED"]), 3, 3)
        self.assertEqual(len(parked.result().tasks), 1)

    def test_tasks_are_postponed(self):
        self.put(5)
        self.start_bulk({"postpone": seconds(60)}, all=True)
        counts = self.client.queue(QUEUE).counts
        self.assertEqual((counts.ready_count, counts.scheduled_count), (0, 5))

    def test_a_bulk_leaves_paused_tasks_as_they_are(self):
        [paused] = self.put(1, period=seconds(3600))
        self.client.nack(self.client.lease(QUEUE)[0], retry_delay=seconds(60))
        self.client.admin.PauseTask(admin_pb2.PauseTaskRequest(task_id=paused), timeout=60)
        [delayed] = self.put(1, delay=seconds(3600))
        for action in ({"postpone": seconds(1)}, {"schedule_time": {"seconds": 1}},
                       {"run_now": {}}):
            with self.subTest(**action):
                self.assert_done(self.start_bulk(action, all=True), 2, 1)
        self.assert_done(self.start_bulk({"retry": {}}, all=True), 2, 0)
        self.assertEqual([task.task_id for task in self.client.lease(QUEUE, max_tasks=9)],
                         [delayed])
        self.assertEqual(self.database.value(
            "SELECT schedule_time FROM skiplane.task"
            f" WHERE id = {paused.split('-')[1]}"), "infinity")

    def test_the_total_counts_what_was_enqueued_just_now(self):
        self.put(502)
        for task in self.client.lease(QUEUE, max_tasks=7):
            self.client.nack(task, "FAIL")
        self.client.lease(QUEUE, max_tasks=5)
        for wanted, filters in ((495, {"states": ["TASK_STATE_READY"]}),
                                (502, {"priority": 9}),
                                (7, {"states": ["TASK_STATE_FAILED"]}),
                                (502, {"states": ["TASK_STATE_LEASED", "TASK_STATE_FAILED"]})):
            with self.subTest(**filters):
                operation = self.start_bulk({"delete": {}}, dry_run=True, **filters)
                self.assertEqual((operation.total_estimate, operation.scanned_count),
                                 (wanted, wanted))

    def test_failed_tasks_and_retries_run_again(self):
        self.put(4, max_attempts=1, key="")
        self.put(2)
        for task in self.client.lease(QUEUE, max_tasks=6):
            self.client.nack(task)
        self.assert_done(self.start_bulk({"retry": {}}, all=True), 6, 6)
        self.assertEqual(self.client.queue(QUEUE).counts.ready_count, 6)
        self.assertEqual(self.client.queue(QUEUE).counts.failed_count, 0)

    def test_a_cancel_ends_waiting_tasks_and_asks_workers(self):
        self.put(10)
        held = self.client.lease(QUEUE, max_tasks=3, worker_id="w")
        self.assert_done(self.start_bulk({"cancel": {}}, all=True), 10, 10)
        states = {result.state for result in self.client.heartbeat("w", 30, *held).results}
        self.assertEqual(states, {3})
        for task in held:
            self.client.nack(task)
        counts = self.client.queue(QUEUE).counts
        self.assertEqual((counts.ready_count, counts.leased_count, counts.cancelled_count),
                         (0, 0, 10))

    def test_a_purge_leaves_running_tasks(self):
        self.put(20)
        self.client.lease(QUEUE, max_tasks=2)
        self.assert_done(self.start_bulk({"delete": {}}, all=True), 20, 18)
        self.assertEqual(self.database.number("SELECT count(*) FROM skiplane.task"), 2)

    def test_it_goes_through_all_lanes_and_stages(self):
        self.client.create_queue("wide", lane_count=3)
        self.client.enqueue_all("wide", [self.client.new_task(key=f"k{i}") for i in range(300)])
        request = admin_pb2.StartBulkOperationRequest(
            filter=bulk_pb2.TaskFilter(queue="wide", key_prefix="k1"),
            action=bulk_pb2.BulkAction(delete={}), wait=seconds(60))
        operation = self.client.admin.StartBulkOperation(request, timeout=90).operation
        self.assert_done(operation, 111, 111)
        self.assertEqual(operation.scanned_count, 300)

    def test_it_is_stopped_and_what_was_done_stays(self):
        self.put(20000)
        operation = self.start_bulk({"set_priority": 9}, wait=0, all=True)
        request = admin_pb2.StopBulkOperationRequest(operation_id=operation.operation_id)
        stopped = self.client.admin.StopBulkOperation(request, timeout=60).operation
        self.assertEqual(stopped.state, bulk_pb2.BULK_OPERATION_STATE_STOPPED)
        self.assertLess(stopped.changed_count, 20000)
        again = self.get(operation.operation_id)
        self.assertEqual(self.database.number(
            "SELECT count(*) FROM skiplane.task WHERE priority = 9"), again.changed_count)

    def test_a_drain_does_not_wait_for_its_end(self):
        self.put(20000)
        operation = self.start_bulk({"set_priority": 9}, wait=0, all=True)
        request = admin_pb2.GetBulkOperationRequest(operation_id=operation.operation_id,
                                                    wait=seconds(60))
        waiting = self.client.admin.GetBulkOperation.future(request, timeout=90)
        end = time.monotonic() + GENEROUS_S
        while self.broker.metrics().get(self.STARTED, 0) < 1:
            self.assertLess(time.monotonic(), end, "the call has not arrived")
        self.get(operation.operation_id)
        self.assertEqual(self.broker.terminate(), 0)
        self.assertEqual(waiting.result().operation.operation_id, operation.operation_id)

    @slow
    def test_another_broker_takes_it_over(self):
        self.put(20000)
        operation = self.start_bulk({"set_priority": 9}, wait=0, all=True)
        self.broker.kill()
        other = self.client_of(self.start_broker())
        request = admin_pb2.GetBulkOperationRequest(operation_id=operation.operation_id,
                                                    wait=seconds(60))
        done = other.admin.GetBulkOperation(request, timeout=90).operation
        self.assert_done(done, 20000, 20000)

    def test_operations_are_listed_the_latest_first(self):
        self.put(1)
        first = self.start_bulk({"set_priority": 1}, all=True)
        second = self.start_bulk({"set_priority": 2}, all=True)
        listed, token = [], ""
        for _ in range(2):
            request = admin_pb2.ListBulkOperationsRequest(page_size=1, page_token=token)
            answer = self.client.admin.ListBulkOperations(request, timeout=60)
            listed += [operation.operation_id for operation in answer.operations]
            token = answer.next_page_token
        self.assertEqual((listed, token), ([second.operation_id, first.operation_id], ""))
        self.assertEqual(self.get(first.operation_id).action.set_priority, 1)

    def test_a_bulk_without_a_filter_and_other_nonsense_change_nothing(self):
        self.put(2)
        refused = ("INVALID_ARGUMENT", "INVALID_FIELD")
        for fields, field in (({"action": {"cancel": {}}}, "filter.all"),
                              ({"action": {"cancel": {}}, "all": True, "priority": 1},
                               "filter.all"),
                              ({"action": {}, "all": True}, "action"),
                              ({"action": {"set_priority": 99999}, "all": True},
                               "action.set_priority"),
                              ({"action": {"cancel": {}}, "states": ["TASK_STATE_SUCCEEDED"]},
                               "filter.states"),
                              ({"action": {"cancel": {}}, "states": ["TASK_STATE_FAILED"]},
                               "filter.states"),
                              ({"action": {"cancel": {}}, "stage": "x"}, "filter.stage")):
            with self.subTest(fields=fields):
                error = self.assert_refused(*refused, self.start_bulk, **fields)
                self.assertIn(field, error.details())
        self.assert_refused("NOT_FOUND", "OPERATION_NOT_FOUND", self.get, "00" * 16)
        self.assert_refused(*refused, self.get, "xyz")
        self.assertEqual(self.client.queue(QUEUE).counts.ready_count, 2)

    def test_it_is_in_the_audit(self):
        self.put(3)
        self.start_bulk({"cancel": {}}, all=True)
        self.start_bulk({"cancel": {}}, dry_run=True, all=True)
        request = admin_pb2.ListAuditRecordsRequest(queue=QUEUE)
        methods = [(record.method, record.changed_count) for record in
                   self.client.admin.ListAuditRecords(request, timeout=60).records]
        self.assertEqual(methods, [("BulkOperationDone", 3), ("StartBulkOperation", 0),
                                   ("CreateQueue", 0)])


    def test_who_stops_what_has_ended_changed_nothing(self):
        self.put(3)
        done = self.start_bulk({"cancel": {}}, all=True)
        request = admin_pb2.StopBulkOperationRequest(operation_id=done.operation_id)
        self.client.admin.StopBulkOperation(request, timeout=60)
        request = admin_pb2.ListAuditRecordsRequest(queue=QUEUE, page_size=2)
        records = self.client.admin.ListAuditRecords(request, timeout=60).records
        self.assertEqual([(record.method, record.changed_count) for record in records],
                         [("StopBulkOperation", 0), ("BulkOperationDone", 3)])


class ErrorGroups(SystemTest):
    def setUp(self):
        super().setUp()
        self.broker, self.client = self.start()
        self.client.create_queue(QUEUE)

    def groups(self, **fields):
        request = admin_pb2.ListErrorGroupsRequest(queue=QUEUE, **fields)
        return self.client.admin.ListErrorGroups(request, timeout=60)

    def fail_tasks(self, text, count=1, disposition="RETRY", **error):
        ids = []
        for number in range(count):
            task_id = self.client.enqueue(QUEUE)
            [task] = self.client.lease(QUEUE)
            message = text.format(number).encode()
            self.client.nack(task, disposition, error=task_pb2.TaskError(
                type="IOError", text=message, **error))
            ids.append(task_id)
        return ids

    def test_failures_with_other_numbers_are_one_group(self):
        ids = self.fail_tasks("no file /tmp/{}1.txt for user 'u{}'".replace("{}", "{0}"), 3)
        dead = self.fail_tasks("no file /tmp/{0}9.txt for user 'x{0}'", 2, "FAIL")
        self.fail_tasks("quite another thing")
        other, group = self.groups().groups
        self.assertEqual((group.retrying_count, group.failed_count, group.type),
                         (3, 2, "IOError"))
        self.assertEqual((other.retrying_count, other.text), (1, b"quite another thing"))
        self.assertIn(b"no file", group.text)
        self.assertTrue(set(group.sample_task_ids) & set(ids + dead))
        self.assertLessEqual(group.first_seen_time.ToMicroseconds(),
                             group.last_seen_time.ToMicroseconds())

    def test_a_fingerprint_of_the_workers_own(self):
        self.fail_tasks("one {0}", 2, fingerprint="mine")
        self.fail_tasks("two {0}", 2, fingerprint="mine")
        [group] = self.groups().groups
        self.assertEqual((group.fingerprint, group.retrying_count), ("mine", 4))

    def test_counts_follow_the_tasks(self):
        self.fail_tasks("x", 2)
        self.fail_tasks("x", 1, "FAIL")
        self.database.make_due()
        tasks = self.client.lease(QUEUE, max_tasks=2)
        self.client.ack(tasks[0])
        [group] = self.groups().groups
        self.assertEqual((group.retrying_count, group.failed_count), (1, 1))
        self.client.nack(tasks[1], "FAIL", error=task_pb2.TaskError(type="Other"))
        first, second = self.groups().groups
        self.assertEqual([(g.retrying_count, g.failed_count) for g in (first, second)],
                         [(0, 1), (0, 1)])

    def test_a_group_is_retried_by_one_call(self):
        self.fail_tasks("x{0}", 2)
        self.fail_tasks("x{0}", 2, "FAIL")
        self.fail_tasks("leave me")
        group = self.groups().groups[1]
        request = admin_pb2.RetryErrorGroupRequest(queue=QUEUE, fingerprint=group.fingerprint,
                                                   wait=seconds(60))
        operation = self.client.admin.RetryErrorGroup(request, timeout=90).operation
        self.assertEqual(operation.changed_count, 4)
        self.assertEqual(self.client.queue(QUEUE).counts.ready_count, 4)
        for task in self.client.lease(QUEUE, max_tasks=10):
            self.client.ack(task)
        self.assertEqual([g.text for g in self.groups().groups], [b"leave me"])

    def test_a_periodic_run_that_is_over_waits_for_no_retry(self):
        mine = {"error": task_pb2.TaskError(type="IOError", fingerprint="mine")}
        self.fail_tasks("x", fingerprint="mine")
        task_id = self.client.enqueue(QUEUE, period=seconds(3600), max_attempts=2)
        def counts():
            [group] = self.groups().groups
            return group.retrying_count, group.failed_count
        def run():
            self.database.run("UPDATE skiplane.task SET schedule_time = now() WHERE period IS"
                              " NOT NULL")
            [task] = self.client.lease(QUEUE)
            self.assertEqual(task.task_id, task_id)
            return task
        self.client.nack(run(), "FAIL", **mine)
        self.assertEqual(counts(), (1, 0))
        self.assertEqual(self.client.task(task_id).last_error.type, "IOError")
        self.client.nack(run(), **mine)
        self.assertEqual(counts(), (2, 0))
        self.client.nack(run(), **mine)
        self.assertEqual(counts(), (1, 0))
        self.client.ack(run())
        self.assertEqual(counts(), (1, 0))
        request = admin_pb2.RetryErrorGroupRequest(queue=QUEUE, fingerprint="mine",
                                                   wait=seconds(60))
        operation = self.client.admin.RetryErrorGroup(request, timeout=90).operation
        self.assertEqual((operation.matched_count, operation.changed_count), (1, 1))

    def test_groups_come_in_pages(self):
        for letter in "abcdefg":
            self.fail_tasks(letter)
        texts, token = [], ""
        while len(texts) == 0 or token:
            answer = self.groups(page_size=3, page_token=token)
            texts += [group.text for group in answer.groups]
            token = answer.next_page_token
        self.assertEqual(texts, [b"g", b"f", b"e", b"d", b"c", b"b", b"a"])

    def test_the_broker_has_its_own_groups(self):
        self.client.enqueue(QUEUE)
        self.client.lease(QUEUE, worker_id="dies", duration=1)
        self.client.lease(QUEUE)
        [group] = self.groups().groups
        self.assertEqual((group.fingerprint, group.retrying_count), ("LEASE_LOST", 1))


class Reports(SystemTest):
    def setUp(self):
        super().setUp()
        self.broker, self.client = self.start()
        self.client.create_queue(QUEUE)

    def statistics(self, **fields):
        request = admin_pb2.GetStatisticsRequest(queue=QUEUE, **fields)
        return self.client.admin.GetStatistics(request, timeout=60).hours

    @slow
    def test_statistics_are_exact_folded_or_not(self):
        for _ in range(12):
            self.client.enqueue(QUEUE)
        tasks = self.client.lease(QUEUE, max_tasks=12)
        self.client.ack(*tasks[:9])
        for task in tasks[9:]:
            self.client.nack(task, "FAIL")
        def counts():
            return sorted((hour.outcome, hour.attempt_count) for hour in self.statistics())
        wanted = [(task_pb2.ATTEMPT_OUTCOME_SUCCEEDED, 9), (task_pb2.ATTEMPT_OUTCOME_FAILED, 3)]
        self.assertEqual(counts(), wanted)
        self.database.eventually("SELECT count(*) > 0 FROM skiplane.hour_statistics", bound_s=120)
        self.assertEqual(counts(), wanted)
        kept = self.database.number("SELECT sum(extract(epoch FROM end_time - lease_time) * 1e6)"
                                    "::bigint FROM skiplane.history WHERE outcome = 1")
        [done] = self.statistics(outcome=task_pb2.ATTEMPT_OUTCOME_SUCCEEDED)
        self.assertLessEqual(abs(done.run_total.ToMicroseconds() - kept), 20)
        self.assertAlmostEqual(done.run_mean.ToMicroseconds(), kept / 9, delta=20)
        self.assertLessEqual(done.run_max.ToMicroseconds(), done.run_total.ToMicroseconds())

    def test_statistics_are_asked_by_range(self):
        self.database.run("INSERT INTO skiplane.hour_statistics SELECT min(lane),"
                          " date_trunc('hour',"
                          " now()) - interval '1 hour' * h, 0, 1, h, 1000, 500, 2000"
                          " FROM skiplane.queue_lane, generate_series(1, 48) h GROUP BY h")
        self.assertEqual(len(self.statistics()), 24)
        error = self.assert_refused(
            "INVALID_ARGUMENT", "INVALID_FIELD", self.statistics,
            start_time={"seconds": 1700000000}, end_time={"seconds": 1600000000})
        self.assertIn("end_time", error.details())

    def test_workers_are_listed_with_what_they_hold(self):
        for _ in range(3):
            self.client.enqueue(QUEUE)
        self.client.lease(QUEUE, worker_id="w1", worker_name="anna", max_tasks=2)
        self.client.lease(QUEUE, worker_id="w2", worker_name="bert")
        workers, token = [], ""
        for _ in range(2):
            request = admin_pb2.ListWorkersRequest(page_size=1, page_token=token)
            answer = self.client.admin.ListWorkers(request, timeout=60)
            workers += answer.workers
            token = answer.next_page_token
        handles = self.database.run("SELECT worker_handle FROM skiplane.workers ORDER BY name")
        self.assertEqual([(w.name, w.worker_handle, w.leased_count) for w in workers],
                         [("anna", handles[0][0], 2), ("bert", handles[1][0], 1)])
        self.assertEqual(token, "")


if __name__ == "__main__":
    unittest.main()
