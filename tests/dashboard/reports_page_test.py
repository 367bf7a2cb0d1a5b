"""The pages of errors, workers, brokers and of the audit."""

import unittest

from browser.case import HOSTILE, DashboardTest
from support.client import new_id, task_pb2


class ErrorsPage(DashboardTest):
    def fail(self, queue, error_type, tasks=1):
        for _ in range(tasks):
            self.client.enqueue(queue)
        for task in self.client.lease(queue, max_tasks=10):
            self.client.nack(task, "FAIL", error=task_pb2.TaskError(
                type=error_type, text=f"{error_type} of mailer 7".encode()))

    def test_groups_of_all_queues_are_listed_and_lead_to_their_tasks(self):
        self.fail("mail", HOSTILE, tasks=3)
        self.fail("other", "ValueError")
        self.page.open("errors")
        self.page.until(lambda: len(self.page.rows("Error groups")) == 2, "both groups")
        self.assertIn(HOSTILE, self.page.rows("Error groups")[1][0])
        self.page.click("3", tag="a")
        self.page.until(lambda: len(self.page.rows("Tasks")) == 3, "the tasks of the group")
        self.page.open("errors")
        self.page.fill("Queue", "other")
        self.page.click("Filter")
        self.page.until(lambda: len(self.page.rows("Error groups")) == 1, "that of one queue")
        self.assertEqual(self.page.place(), "errors?queue=other")

    def test_a_group_is_retried(self):
        self.fail("mail", "TimeoutError", tasks=3)
        self.page.open("errors")
        self.page.click("Retry…")
        self.page.wait_for("3 tasks of mail", "dialog[open]")
        self.page.confirm("Retry")
        self.page.wait_for("Changed\n3")
        self.assertRegex(self.page.place(), "^operations/[0-9a-f]{32}$")
        self.assertEqual(self.client.queue("mail").counts.ready_count, 3)

    def test_a_queue_has_its_own(self):
        self.fail("mail", "TimeoutError")
        self.fail("other", "ValueError")
        self.page.open("queues/other/errors")
        self.page.until(lambda: len(self.page.rows("Error groups")) == 1, "its group")
        self.page.wait_for("ValueError", "main")


class WorkersPage(DashboardTest):
    def test_workers_are_listed_with_what_they_hold(self):
        for _ in range(2):
            self.client.enqueue("mail")
        self.client.lease("mail", max_tasks=2, worker_id=new_id(), worker_name=HOSTILE)
        self.page.open("workers")
        self.page.until(lambda: [(row[0], row[2]) for row in self.page.rows("Workers")] ==
                        [(HOSTILE, "2")], "the worker")


class BrokersPage(DashboardTest):
    def test_brokers_and_their_database_are_told(self):
        other = self.start_broker()
        self.page.open("brokers")
        self.page.until(lambda: len(self.page.rows("Brokers")) == 2, "both brokers")
        self.page.wait_for("answers this page")
        self.page.wait_for("does the chores")
        self.page.wait_for("PostgreSQL 1")
        self.page.wait_for_row("Sizes of tables", "task")
        other.terminate()
        self.page.until(lambda: len(self.page.rows("Brokers")) == 1, "the other one is gone")


class AuditPage(DashboardTest):
    def test_changes_are_found_by_queue_task_and_time(self):
        self.client.create_queue("mail")
        self.client.pause("mail", reason=HOSTILE)
        task = self.client.enqueue("other", key="k")
        self.page.open(f"tasks/{task}")
        self.page.click("Cancel")
        self.page.confirm("Cancel")
        self.page.open("audit")
        self.page.until(lambda: [row[2] for row in self.page.rows("Audit records")] ==
                        ["CancelTask", "PauseQueue", "CreateQueue"], "all, the latest first")
        self.page.wait_for("onerror", "table")
        self.page.fill("Queue", "mail")
        self.page.click("Filter")
        self.page.until(lambda: len(self.page.rows("Audit records")) == 2, "those of a queue")
        self.page.open(f"audit?task={task}")
        self.page.until(lambda: len(self.page.rows("Audit records")) == 1, "that of a task")
        self.page.open("audit?to=2020-01-01T00:00:00Z")
        self.page.wait_for("No change is recorded.")


if __name__ == "__main__":
    unittest.main()
