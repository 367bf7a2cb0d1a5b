"""What an operator sees of all queues, of brokers and of minutes."""

import time
import unittest

from support.by_http import ByHttp
from support.case import SystemTest, slow
from support.client import admin_pb2, task_pb2
from support.process import GENEROUS_S


@slow
class Overview(SystemTest):
    def setUp(self):
        super().setUp()
        self.broker, self.client = self.start()

    def summaries(self, **fields):
        request = admin_pb2.ListQueueSummariesRequest(**fields)
        return self.client.admin.ListQueueSummaries(request, timeout=60)

    def wait_for(self, look):
        """Until the broker has looked at its queues once more, as every few seconds."""
        end = time.monotonic() + GENEROUS_S
        while True:
            found = look()
            if found:
                return found
            self.assertLess(time.monotonic(), end, "it is not seen")

    def test_one_call_tells_of_all_queues(self):
        self.client.create_queue("a", stages=[{"name": "cut"}, {"name": "mix"}])
        self.client.create_queue("b")
        self.client.create_queue("c")
        self.client.pause("c", reason="deploy")
        self.client.enqueue_all("a", [{} for _ in range(3)])
        self.client.enqueue_all("b", [{} for _ in range(40)])
        [task] = self.client.lease("b")
        self.client.ack(task)
        page = self.summaries()
        self.assertEqual([summary.queue for summary in page.summaries], ["a", "b", "c"])
        a, b, c = page.summaries
        self.assertEqual([(stage.stage, stage.ready_count) for stage in a.counts.stages],
                         [("cut", 3), ("mix", 0)])
        self.assertEqual((b.counts.ready_count, b.counts.succeeded_count), (39, 1))
        self.assertEqual(c.pause_reason, "deploy")
        self.assertFalse(page.next_page_token)

    def test_pages_follow_each_other(self):
        for name in ("a", "b", "c"):
            self.client.create_queue(name)
        first = self.summaries(page_size=2)
        rest = self.summaries(page_size=2, page_token=first.next_page_token)
        names = [summary.queue for page in (first, rest) for summary in page.summaries]
        self.assertEqual(names, ["a", "b", "c"])
        self.assert_refused("INVALID_ARGUMENT", "INVALID_FIELD", self.summaries,
                            page_token="made up")

    def test_rates_and_ages_are_told(self):
        self.client.create_queue("old")
        self.client.enqueue("old")
        self.wait_for(lambda: self.summaries().summaries[0].oldest_ready_age.ToNanoseconds() > 0)
        # The broker has looked at its queues, and has not seen this one when its tasks come.
        self.client.create_queue("a")
        self.client.enqueue_all("a", [{} for _ in range(50)])
        [task] = self.client.lease("a")

        def seen():
            summary = self.summaries().summaries[0]
            is_seen = summary.enqueue_rate > 0 and summary.oldest_ready_age.ToNanoseconds() > 0
            return is_seen and summary
        summary = self.wait_for(seen)
        self.assertLessEqual(summary.enqueue_rate, 51)
        self.client.nack(task, "FAIL")
        self.wait_for(lambda: self.summaries().summaries[0].failure_rate > 0)

    def test_brokers_and_their_database_are_told(self):
        info = self.client.admin.GetServerInfo(admin_pb2.GetServerInfoRequest(), timeout=60).info
        self.assertTrue(info.version and info.database_version.startswith("15"))
        self.assertGreaterEqual(info.schema_version, 9)
        self.assertIn("task_pack", [table.table for table in info.tables])
        self.assertLessEqual(info.start_time.ToNanoseconds(), info.database_time.ToNanoseconds())

        def own():
            answer = self.client.admin.ListBrokers(admin_pb2.ListBrokersRequest(), timeout=60)
            return [one for one in answer.brokers if one.is_this and one.is_leader]
        [broker] = self.wait_for(own)
        self.assertEqual((broker.name, broker.version), (info.broker_name, info.version))

    def test_error_groups_of_all_queues_stand_together(self):
        for name in ("a", "b"):
            self.client.create_queue(name)
            self.client.enqueue(name)
            [task] = self.client.lease(name)
            self.client.nack(task, "FAIL", error=task_pb2.TaskError(type="Same", text=b"x"))
        request = admin_pb2.ListErrorGroupsRequest(page_size=1)
        found = []
        while True:
            answer = self.client.admin.ListErrorGroups(request, timeout=60)
            found += [(group.queue, group.failed_count) for group in answer.groups]
            if not answer.next_page_token:
                break
            request.page_token = answer.next_page_token
        self.assertEqual(found, [("b", 1), ("a", 1)])
        self.assert_refused("INVALID_ARGUMENT", "INVALID_FIELD",
                            self.client.admin.ListErrorGroups,
                            admin_pb2.ListErrorGroupsRequest(stage="s"), timeout=60)

    def annotate(self, queue, **fields):
        request = admin_pb2.AnnotateErrorGroupRequest(queue=queue, **fields)
        return self.client.admin.AnnotateErrorGroup(request, timeout=60).note

    def test_operators_tell_each_other_what_they_know_of_an_error_group(self):
        for name in ("a", "b"):
            self.client.create_queue(name)
            self.client.enqueue(name)
            [task] = self.client.lease(name)
            self.client.nack(task, error=task_pb2.TaskError(type="Same", text=b"x"))

        def groups(**fields):
            request = admin_pb2.ListErrorGroupsRequest(**fields)
            return list(self.client.admin.ListErrorGroups(request, timeout=60).groups)
        fingerprint = groups()[0].fingerprint
        self.assertFalse(groups()[0].HasField("note"))
        self.annotate("b", fingerprint=fingerprint, note="fixed in 4.2")
        self.annotate("b", fingerprint=fingerprint, muted=True)
        b, a = groups()
        self.assertEqual((b.note.text, b.note.muted, a.HasField("note")),
                         ("fixed in 4.2", True, False))
        self.assertTrue(b.note.actor and b.note.update_time.seconds)
        self.assertEqual([group.queue for group in groups(hide_muted=True)], ["a"])
        self.annotate("b", fingerprint=fingerprint, note="", muted=False)
        self.assertEqual(len(groups(hide_muted=True)), 2)
        self.assert_refused("NOT_FOUND", "QUEUE_NOT_FOUND", self.annotate, "missing",
                            fingerprint="x", muted=True)
        for fields in ({"fingerprint": "x"}, {"muted": True},
                       {"fingerprint": "x", "note": "x" * 4097}):
            self.assert_refused("INVALID_ARGUMENT", "INVALID_FIELD", self.annotate, "a", **fields)

    def test_workers_tell_what_they_hold(self):
        for name in ("a", "b"):
            self.client.create_queue(name)
            self.client.enqueue_all(name, [{} for _ in range(30)])
        leased = [task.task_id for name in ("a", "b") for task in
                  self.client.lease(name, max_tasks=15, worker_id="w", worker_name="seven")]
        self.client.enqueue("a")
        request = admin_pb2.ListWorkersRequest()
        [worker] = self.client.admin.ListWorkers(request, timeout=60).workers
        self.assertEqual((worker.name, worker.leased_count, list(worker.queues),
                          worker.lease_duration.seconds), ("seven", 30, ["a", "b"], 30))
        self.assertEqual(len(worker.task_ids), 20)
        self.assertLess(set(worker.task_ids), set(leased))

        def held(**fields):
            request = admin_pb2.ListTasksRequest(queues=["a", "b"], page_size=12, **fields)
            tasks = []
            while True:
                page = self.client.admin.ListTasks(request, timeout=60)
                tasks += [task.task_id for task in page.tasks]
                if not page.next_page_token:
                    return tasks
                request.page_token = page.next_page_token
        handle = worker.worker_handle
        self.assertCountEqual(held(worker_handle=handle), leased)
        self.assertCountEqual(
            held(worker_handle=handle, filter={"task_ids": leased[:3]}),
            leased[:3])
        self.assertEqual(held(worker_handle="0123456789abcdef"), [])
        ready = {"states": ["TASK_STATE_READY"]}
        self.assertEqual(held(worker_handle=handle, filter=ready), [])
        self.assert_refused("INVALID_ARGUMENT", "INVALID_FIELD", held, worker_handle="seven")

    def test_changes_are_found_by_task_actor_and_time(self):
        self.client.create_queue("a")
        first, second = (self.client.enqueue("a") for _ in range(2))
        for task_id, actor in ((first, "ann"), (second, "bob"), (first, "bob")):
            request = admin_pb2.PrioritizeTaskRequest(task_id=task_id, priority=3)
            self.client.admin.PrioritizeTask(request, timeout=60,
                                             metadata=[("skiplane-actor", actor)])

        def found(**fields):
            request = admin_pb2.ListAuditRecordsRequest(**fields)
            records = self.client.admin.ListAuditRecords(request, timeout=60).records
            return [(record.method, record.actor) for record in records]
        self.assertEqual(found(task_id=first),
                         [("PrioritizeTask", "bob"), ("PrioritizeTask", "ann")])
        self.assertEqual(len(found(actor="bob")), 2)
        self.assertEqual(found(task_id=second, actor="ann"), [])
        record = self.client.admin.ListAuditRecords(
            admin_pb2.ListAuditRecordsRequest(task_id=second), timeout=60).records[0]
        after = admin_pb2.ListAuditRecordsRequest(start_time=record.create_time)
        self.assertEqual(len(self.client.admin.ListAuditRecords(after, timeout=60).records), 2)

    def test_minutes_tell_how_long_attempts_waited_and_ran(self):
        self.client.create_queue("a")
        self.client.enqueue_all("a", [{} for _ in range(20)])
        for task in self.client.lease("a", max_tasks=20):
            self.client.ack(task)
        # A broker writes its minutes when it ends, too.
        self.broker.terminate()
        self.broker, self.client = self.start()

        def total():
            request = admin_pb2.GetMinuteStatisticsRequest(queue="a")
            answer = self.client.admin.GetMinuteStatistics(request, timeout=60)
            return answer if answer.total.run.count else None
        answer = self.wait_for(total)
        self.assertEqual((answer.total.run.count, answer.total.wait.count), (20, 20))
        self.assertEqual(sum(minute.run.count for minute in answer.minutes), 20)
        self.assertGreater(answer.total.run.p99.ToNanoseconds(), 0)
        for fields in ({"step": {"seconds": 90}}, {"step": {"seconds": 30}},
                       {"start_time": {"seconds": 1}}):
            self.assert_refused("INVALID_ARGUMENT", "INVALID_FIELD",
                                self.client.admin.GetMinuteStatistics,
                                admin_pb2.GetMinuteStatisticsRequest(queue="a", **fields),
                                timeout=60)


class OverviewByHttp(ByHttp, Overview):
    pass


if __name__ == "__main__":
    unittest.main()
