"""Operators who retry and delete the same failed tasks at once."""

import threading
import unittest

import grpc

from support import template
from support.case import SystemTest
from support.client import DEADLINE_S, admin_pb2, bulk_pb2, seconds
from support.cluster import Cluster
from support.database import Database

QUEUE = "mail"
ROUNDS = 40
TASKS = 8


class OperatorsMeet(SystemTest):
    def setUp(self):
        cluster = Cluster(["deadlock_timeout = '20ms'"])
        self.addCleanup(cluster.end)
        self.database = Database(cluster, template.made_in(cluster))
        self.database.broker_user = template.BROKER_USER
        self.broker, self.client = self.start()
        self.client.create_queue(QUEUE)

    def fail_some(self, number):
        tasks = [self.client.new_task(key=f"{number}-{other}") for other in range(TASKS)]
        self.client.enqueue_all(QUEUE, tasks)
        leased = []
        while len(leased) < TASKS:
            leased += self.client.lease(QUEUE, max_tasks=TASKS, worker_id="w")
        for task in leased:
            self.client.nack(task, "FAIL")
        return [task.task_id for task in leased]

    def retry(self, task_id):
        self.client.admin.RetryTask(admin_pb2.RetryTaskRequest(task_id=task_id),
                                    timeout=DEADLINE_S)

    def delete(self, task_id):
        self.client.admin.DeleteTask(admin_pb2.DeleteTaskRequest(task_id=task_id),
                                     timeout=DEADLINE_S)

    def delete_failed(self):
        self.client.admin.StartBulkOperation(admin_pb2.StartBulkOperationRequest(
            filter=bulk_pb2.TaskFilter(queue=QUEUE, states=["TASK_STATE_FAILED"]),
            action=bulk_pb2.BulkAction(delete={}), wait=seconds(60)), timeout=90)

    def each(self, change, ids, codes):
        for task_id in ids:
            try:
                change(task_id)
            except grpc.RpcError as error:
                codes.add(error.code())

    # A retry that came second locked the task's key, and then the task, which lived again.
    def test_nobody_waits_for_a_deadlock(self):
        codes = set()
        for number in range(ROUNDS):
            ids = self.fail_some(number)
            work = [(self.each, (change, ids, codes))
                    for change in (self.retry, self.delete, self.retry, self.delete)]
            threads = [threading.Thread(target=target, args=arguments)
                       for target, arguments in [*work, (self.delete_failed, ())]]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        self.assertLessEqual(codes, {grpc.StatusCode.NOT_FOUND,
                                     grpc.StatusCode.FAILED_PRECONDITION})
        self.assertEqual(self.database.number(
            "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"), 0)


if __name__ == "__main__":
    unittest.main()
