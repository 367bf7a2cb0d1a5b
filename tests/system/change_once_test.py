"""Operators' calls may be repeated: with a request_id each change is made once, at whichever broker
it is asked for, and whatever became of the answer."""

import os
import subprocess
import unittest

import grpc

from support import cluster
from support.cli import program
from support.client import (
    admin_pb2, bulk_pb2, new_id, queue_pb2, seconds, state_name, task_pb2)
from support.fault import FaultTest
from support.process import GENEROUS_S

QUEUE = "changed"
HOUR = seconds(3600)
READS = ("Get", "List", "Explain", "Preview", "WhoAmI", "Watch")
SERVICE = admin_pb2.DESCRIPTOR.services_by_name["AdminService"]
CHANGES = {method.name: method for method in SERVICE.methods
           if not method.name.startswith(READS)}
AUDITED = {"MoveTask": 2}  # in both queues
RUN_TIMES = "SELECT extract(epoch FROM schedule_time - create_time)::int8 / 3600 FROM skiplane.task"


def filter_of(queue=QUEUE, **fields):
    return bulk_pb2.TaskFilter(queue=queue, **fields)


class ChangeOnce(FaultTest):
    def setUp(self):
        super().setUp()
        self.broker, self.client = self.start()
        self.client.create_queue(QUEUE)

    def put(self, **fields):
        return self.client.enqueue(QUEUE, **fields)

    def call(self, method, client=None, **fields):
        """Of AdminService; fields of the request."""
        request = getattr(admin_pb2, f"{method}Request")(**fields)
        return getattr((client or self.client).admin, method)(request, timeout=60)

    def audited(self, method):
        records = self.call("ListAuditRecords", page_size=1000).records
        return [record.request_json for record in records if record.method == method]

    def failed(self):
        task_id = self.put(max_attempts=1)
        self.client.nack(self.client.lease(QUEUE)[0], "FAIL")
        return task_id

    def periodic(self, paused=False):
        task_id = self.put(period=HOUR, delay=HOUR)
        if paused:
            self.call("PauseTask", task_id=task_id)
        return task_id

    def some_group(self):
        self.failed()
        self.database.eventually("SELECT count(*) > 0 FROM skiplane.error_group")
        [group] = self.call("ListErrorGroups", queue=QUEUE).groups
        return group.fingerprint

    def worker(self):
        self.put()
        self.client.lease(QUEUE, worker_id="w", worker_name="asked", duration=600)
        return self.database.value("SELECT worker_handle FROM skiplane.workers"
                                   " WHERE name = 'asked'")

    def other_queue(self):
        self.client.create_queue("other")
        return "other"

    def postpone_all(self):
        self.put(delay=HOUR)
        return {"filter": filter_of(all=True), "action": bulk_pb2.BulkAction(postpone=HOUR),
                "wait": seconds(60)}

    def fields_of(self, method):
        """Of a request that changes something now, when it is called."""
        def task(task_id, **fields):
            return {"task_id": task_id, **fields}
        return {
            "CreateQueue": lambda: {"name": "new"},
            "UpdateQueue": lambda: {"name": QUEUE, "etag": self.client.queue(QUEUE).etag,
                                    "settings": {"keep_results": True}},
            "DeleteQueue": lambda: {"name": self.other_queue(), "wait": seconds(60)},
            "PauseQueue": lambda: {"name": QUEUE, "reason": "why"},
            "ResumeQueue": lambda: {"name": QUEUE},
            "PrioritizeTask": lambda: task(self.put(), priority=3),
            "RescheduleTask": lambda: task(self.put(), postpone=HOUR),
            "RetryTask": lambda: task(self.failed()),
            "CopyTask": lambda: task(self.put()),
            "MoveTask": lambda: task(self.put(), queue=self.other_queue()),
            "CancelTask": lambda: task(self.put()),
            "DeleteTask": lambda: task(self.put()),
            "PauseTask": lambda: task(self.periodic()),
            "ResumeTask": lambda: task(self.periodic(paused=True)),
            "TriggerTask": lambda: task(self.periodic()),
            "StartBulkOperation": self.postpone_all,
            "StopBulkOperation": lambda: {"operation_id": self.call(
                "StartBulkOperation", **self.postpone_all()).operation.operation_id},
            "RetryErrorGroup": lambda: {"queue": QUEUE, "fingerprint": self.some_group(),
                                        "wait": seconds(60)},
            "CommandWorker": lambda: {"worker_handle": self.worker(),
                                      "command": task_pb2.WORKER_COMMAND_QUIET},
            "AnnotateErrorGroup": lambda: {"queue": QUEUE, "fingerprint": "x", "note": "known"},
        }[method]()

    def test_every_change_is_made_once(self):
        other = self.client_of(self.start_broker())
        for name, method in CHANGES.items():
            with self.subTest(method=name):
                self.assertIn("request_id", method.input_type.fields_by_name)
                fields = {**self.fields_of(name), "request_id": new_id()}
                before = len(self.audited(name))
                first = self.call(name, **fields)
                again = self.call(name, other, **fields)
                self.assertEqual(self.ids_in(again), self.ids_in(first))
                requests = self.audited(name)
                self.assertEqual(len(requests), before + AUDITED.get(name, 1))
                self.assertNotIn(fields["request_id"], requests[0])
                self.assert_reuse_is_refused(fields["request_id"])
                for bad in ("x" * 129, "a\0b"):
                    fields["request_id"] = bad
                    error = self.assert_refused("INVALID_ARGUMENT", "INVALID_FIELD",
                                                lambda: self.call(name, **fields))
                    self.assertIn("request_id", error.details())

    def assert_reuse_is_refused(self, request_id):
        """By another method, or by the same one with another body."""
        for text in ("one", "two"):
            self.assert_refused("ALREADY_EXISTS", "REQUEST_ID_REUSED", lambda: self.call(
                "PauseQueue", name=QUEUE, reason=text, request_id=request_id))

    @staticmethod
    def ids_in(response):
        return [getattr(value, name) for _, value in response.ListFields()
                for name in ("task_id", "operation_id", "name") if hasattr(value, name)]

    def test_a_repeated_bulk_postpone_postpones_once(self):
        ids = [self.put(delay=HOUR) for _ in range(20)]
        other = self.client_of(self.start_broker())
        fields = {**self.postpone_all(), "request_id": new_id()}
        first = self.call("StartBulkOperation", **fields).operation
        for client in (self.client, other):
            again = self.call("StartBulkOperation", client, **fields).operation
            self.assertEqual((again.operation_id, again.state, again.changed_count),
                             (first.operation_id, bulk_pb2.BULK_OPERATION_STATE_DONE, len(ids) + 1))
        self.assertEqual(self.database.run(f"SELECT DISTINCT x FROM ({RUN_TIMES}) AS t(x)"),
                         [("2",)])

    def test_a_trigger_that_is_repeated_after_the_run_runs_once(self):
        fields = {"task_id": self.periodic(), "request_id": new_id()}
        self.call("TriggerTask", **fields)
        [task] = self.client.lease(QUEUE)
        self.client.ack(task)
        self.assertEqual(state_name(self.call("TriggerTask", **fields).task.state), "SCHEDULED")
        self.assertEqual(self.client.lease(QUEUE, wait=0), [])

    def test_a_repeated_create_answers_with_the_queue_as_it_is_now(self):
        """Its settings were changed since: by itself the call would be refused."""
        fields = {"name": "new", "settings": queue_pb2.QueueSettings(max_payload_bytes=10),
                  "request_id": new_id()}
        self.call("CreateQueue", **fields)
        self.client.update_queue("new", "max_payload_bytes", max_payload_bytes=20)
        self.assertEqual(self.call("CreateQueue", **fields).queue.settings.max_payload_bytes, 20)
        fields["request_id"] = new_id()
        self.assert_refused("ALREADY_EXISTS", "QUEUE_EXISTS", self.call, "CreateQueue",
                            **fields)

    def test_a_broker_is_killed_between_its_commit_and_its_answer(self):
        """The step waits for a row, and the call for the step, when the operation is begun."""
        fields = {**self.postpone_all(), "request_id": new_id()}
        held = self.database.hold("SELECT * FROM skiplane.task FOR UPDATE")
        request = admin_pb2.StartBulkOperationRequest(**fields)
        lost = self.client.admin.StartBulkOperation.future(request, timeout=60)
        self.database.eventually("SELECT count(*) = 1 FROM skiplane.bulk_operation")
        self.broker.kill()
        self.assertEqual(lost.code(), grpc.StatusCode.UNAVAILABLE)
        held.release()
        other = self.client_of(self.start_broker())
        again = other.admin.StartBulkOperation(request, timeout=90).operation
        self.assertEqual((again.state, again.changed_count),
                         (bulk_pb2.BULK_OPERATION_STATE_DONE, 1))
        self.assertEqual(self.database.run(RUN_TIMES), [("2",)])
        self.assertEqual(self.database.number("SELECT count(*) FROM skiplane.bulk_operation"), 1)


class LostCommit(FaultTest):
    """PostgreSQL has committed, and its broker does not hear of it."""

    def setUp(self):
        super().setUp()
        self.broker, self.proxy = self.start_behind_proxy(cluster.shared())
        self.client = self.client_of(self.broker)
        self.client.create_queue(QUEUE)
        self.task_id = self.client.enqueue(QUEUE, delay=HOUR)

    def postpone(self, request_id):
        request = admin_pb2.RescheduleTaskRequest(task_id=self.task_id, postpone=HOUR,
                                                  request_id=request_id)
        return self.client.admin.RescheduleTask(request, timeout=60).task

    def test_a_repeat_finds_the_change(self):
        request_id = new_id()
        self.proxy.swallow_commit_after("task_change")
        self.assert_refused("UNAVAILABLE", "DATABASE_UNAVAILABLE", self.postpone, request_id)
        self.postpone(request_id)
        self.assertEqual(self.database.run(RUN_TIMES), [("2",)])

    def test_without_an_id_nobody_is_told_to_repeat_what_adds_up(self):
        self.proxy.swallow_commit_after("task_change")
        self.assert_refused("UNKNOWN", "COMMIT_OUTCOME_UNKNOWN", self.postpone, "")
        self.assertEqual(self.database.run(RUN_TIMES), [("2",)])

    def test_an_operation_that_was_begun_is_not_begun_again(self):
        """Its first step waits for the task, so that the look that is lost is the call's."""
        held = self.database.hold("SELECT * FROM skiplane.task FOR UPDATE")
        self.addCleanup(held.release)
        request = admin_pb2.StartBulkOperationRequest(
            filter=filter_of(all=True), action=bulk_pb2.BulkAction(postpone=HOUR))
        self.proxy.swallow_next("bulk_get")
        self.assert_refused("UNKNOWN", "COMMIT_OUTCOME_UNKNOWN",
                            self.client.admin.StartBulkOperation, request, timeout=60)
        self.assertEqual(self.operations(), 1)
        request.request_id = new_id()
        self.proxy.swallow_next("bulk_get")
        self.assert_refused("UNAVAILABLE", "DATABASE_UNAVAILABLE",
                            self.client.admin.StartBulkOperation, request, timeout=60)
        self.client.admin.StartBulkOperation(request, timeout=60)
        self.assertEqual(self.operations(), 2)

    def operations(self):
        return self.database.number("SELECT count(*) FROM skiplane.bulk_operation")

    def test_the_command_line_repeats_its_changes(self):
        """It once gave up where a repeat would have postponed twice."""
        self.run_cli("task_change", "reschedule", self.task_id, "--postpone", "1h")
        self.assertEqual(self.database.run(RUN_TIMES), [("2",)])
        self.run_cli("bulk_create", "reschedule", "-q", QUEUE, "--all", "--postpone", "1h",
                     "--yes")
        self.assertEqual(self.database.run(RUN_TIMES), [("3",)])
        self.run_cli("queue_pause", "pause", QUEUE, group="queues")
        self.assertEqual(self.database.number(
            "SELECT count(*) FROM skiplane.audit WHERE method_name = 'PauseQueue'"), 1)

    def run_cli(self, lost, *arguments, group="tasks"):
        """The answer to its first change is lost."""
        self.proxy.swallow_commit_after(lost)
        subprocess.run([program(), "--broker", self.broker.address, group, *arguments],
                       env={**os.environ, "TZ": "UTC"}, timeout=GENEROUS_S, check=True,
                       capture_output=True)
        self.proxy.wait_until_swallowed()


if __name__ == "__main__":
    unittest.main()
