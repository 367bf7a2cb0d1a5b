"""The whole life of a queue: every call of the API, and every way that a task may take. For what
has to bear all of it, as a role with few rights, or a pooler."""

from google.protobuf import duration_pb2

from support.client import (DEADLINE_S, admin_pb2, broker_pb2, bulk_pb2, queue_pb2, seconds,
                            task_pb2)

QUEUE, NEXT = "life", "life.next"
HOUR = duration_pb2.Duration(seconds=3600)


class Life:
    def __init__(self, client):
        self._client = client
        self._admin = client.admin

    def live(self):
        """Fails if anything goes another way than it should."""
        self._make_queues()
        self._work()
        self._fail_and_recover()
        self._change()
        self._change_many()
        self._look()

    def _call(self, method, request):
        return getattr(self._admin, method)(request, timeout=DEADLINE_S)

    def _make_queues(self):
        self._client.create_queue(QUEUE, lane_count=2, stages=[queue_pb2.Stage(name="fetch"),
                                                          queue_pb2.Stage(name="store")])
        self._client.create_queue(NEXT)
        self._client.update_queue(QUEUE, "lease_duration", lease_duration=seconds(30))
        self._client.pause(QUEUE)
        self._client.resume(QUEUE)

    def _take(self, queue=QUEUE, **fields):
        [task] = self._client.lease(queue, worker_id="worker", duration=30, **fields)
        return task

    def _work(self):
        client = self._client
        tasks = [client.new_task(b"a", key="k", headers={"h": "v"}), client.new_task(b"b")]
        for _ in range(2):
            client.enqueue_all(QUEUE, tasks, request_id="once")
        client.enqueue(QUEUE, b"again", key="k", key_policy="KEY_POLICY_REPLACE_WAITING")
        for _ in range(2):
            task = self._take(stage="fetch")
            client.heartbeat("worker", 30, task)
            client.ack_results(task)
        follow_up = client.new_task(b"next", key="n", queue=NEXT)
        client.ack_results(self._take(stage="store"), follow_ups=[follow_up])
        client.ack_results(self._take(stage="store", request_id="lease"), result=b"done")
        client.ack(self._take(NEXT))
        self._settle_both_ways()
        client.enqueue(NEXT, b"on time", period=seconds(3600))
        client.ack(self._take(NEXT))
        client.lease(NEXT, wait=0)

    def _settle_both_ways(self):
        client = self._client
        client.enqueue_all(NEXT, [client.new_task(b"done"), client.new_task(b"back")])
        done, back = self._take(NEXT), self._take(NEXT)
        client.broker.Settle(broker_pb2.SettleRequest(
            items=[broker_pb2.SettleItem(ack=broker_pb2.AckItem(lease_token=done.lease_token)),
                   broker_pb2.SettleItem(
                       release=broker_pb2.ReleaseItem(lease_token=back.lease_token))]),
            timeout=DEADLINE_S)
        client.ack(self._take(NEXT))

    def _fail_and_recover(self):
        client = self._client
        client.enqueue(NEXT, b"c")
        client.nack(self._take(NEXT), "RELEASE")
        client.nack(self._take(NEXT), retry_delay=seconds(0))
        client.nack(self._take(NEXT), "FAIL", error=task_pb2.TaskError(type="Broken", text=b"e"))
        [group] = self._call("ListErrorGroups",
                             admin_pb2.ListErrorGroupsRequest(queue=NEXT)).groups
        self._call("RetryErrorGroup", admin_pb2.RetryErrorGroupRequest(
            queue=NEXT, fingerprint=group.fingerprint, wait=seconds(60)))
        client.nack(self._take(NEXT), "FAIL", error=task_pb2.TaskError(type="Broken", text=b"e"))
        [failed] = self._call("ListTasks", admin_pb2.ListTasksRequest(
            filter=bulk_pb2.TaskFilter(queue=NEXT, states=["TASK_STATE_FAILED"]))).tasks
        self._call("RetryTask", admin_pb2.RetryTaskRequest(task_id=failed.task_id))
        client.ack(self._take(NEXT))
        client.enqueue(NEXT, b"held")
        self._take(NEXT)
        client.broker.Heartbeat(
            broker_pb2.HeartbeatRequest(worker_id="worker", end_session=True), timeout=DEADLINE_S)
        client.ack(self._take(NEXT))

    def _change(self):
        client = self._client
        one, other = client.enqueue(NEXT, delay=HOUR), client.enqueue(NEXT)
        daily = client.enqueue(NEXT, cron="0 0 1 1 *")
        self._call("PrioritizeTask", admin_pb2.PrioritizeTaskRequest(task_id=one, priority=3))
        self._call("RescheduleTask", admin_pb2.RescheduleTaskRequest(task_id=one, postpone=HOUR))
        self._call("ExplainTask", admin_pb2.ExplainTaskRequest(task_id=one))
        self._call("CancelTask", admin_pb2.CancelTaskRequest(task_id=one))
        self._call("DeleteTask", admin_pb2.DeleteTaskRequest(task_id=other))
        self._call("PauseTask", admin_pb2.PauseTaskRequest(task_id=daily))
        self._call("ResumeTask", admin_pb2.ResumeTaskRequest(task_id=daily))
        self._call("PreviewSchedule", admin_pb2.PreviewScheduleRequest(task_id=daily))
        self._call("TriggerTask", admin_pb2.TriggerTaskRequest(task_id=daily))
        client.ack(self._take(NEXT))

    def _change_many(self):
        client = self._client
        client.enqueue_all(NEXT, [client.new_task(b"many") for _ in range(5)])
        for action in ({"set_priority": 7}, {"postpone": HOUR}, {"run_now": {}},
                       {"cancel": {}}, {"delete": {}}):
            done = self._call("StartBulkOperation", admin_pb2.StartBulkOperationRequest(
                filter=bulk_pb2.TaskFilter(queue=NEXT, all=True),
                action=bulk_pb2.BulkAction(**action), wait=seconds(60))).operation
            self._call("GetBulkOperation",
                       admin_pb2.GetBulkOperationRequest(operation_id=done.operation_id))
        self._call("ListBulkOperations", admin_pb2.ListBulkOperationsRequest())

    def _look(self):
        self._call("ListQueues", admin_pb2.ListQueuesRequest())
        self._call("ListWorkers", admin_pb2.ListWorkersRequest())
        self._call("GetStatistics", admin_pb2.GetStatisticsRequest(queue=NEXT))
        records = self._call("ListAuditRecords",
                             admin_pb2.ListAuditRecordsRequest(queue=NEXT)).records
        if not records:
            raise AssertionError("nothing was recorded")
        counts = self._client.queue(QUEUE).counts
        if (counts.ready_count, counts.leased_count) != (0, 0):
            raise AssertionError(counts)
