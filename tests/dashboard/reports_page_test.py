"""The pages of workers, brokers and of the audit."""

import unittest

from browser.case import HOSTILE, DashboardTest
from support.client import DEADLINE_S, admin_pb2, broker_pb2, new_id, task_pb2


class WorkersPage(DashboardTest):
    def test_workers_are_listed_with_what_they_hold(self):
        for _ in range(2):
            self.client.enqueue("mail")
        self.client.lease("mail", max_tasks=2, worker_id=new_id(), worker_name=HOSTILE)
        self.page.open("workers")
        self.page.until(lambda: [(row[0], row[2]) for row in self.page.rows("Workers")] ==
                        [(HOSTILE, "2")], "the worker")

    def test_a_worker_leads_to_the_tasks_that_it_holds(self):
        held, _ = self.client.enqueue("mail", key="held"), self.client.enqueue("mail", key="free")
        self.client.lease("mail", worker_id=new_id(), worker_name="mailer")
        self.page.open("workers")
        self.page.click("1", tag="a", within="//table")
        self.page.until(lambda: [row[1] for row in self.page.rows("Tasks")] == [held],
                        "the task that it holds")
        self.assertRegex(self.page.place(), "^tasks[?]worker=[0-9a-f]{16}$")
        self.assertEqual(self.page.field("Held by worker").get_attribute("value"),
                         self.page.place().removeprefix("tasks?worker="))
        self.assertFalse(self.page.has("button", "Count them first"))  # it would count all


    def hold(self, name, **said):
        self.client.enqueue("mail")
        self.client.lease("mail", worker_id=name, worker_name=name, **said)

    def command(self, name):
        [worker] = [one for one in self.client.admin.ListWorkers(
            admin_pb2.ListWorkersRequest(), timeout=DEADLINE_S).workers if one.name == name]
        return task_pb2.WorkerCommand.Name(worker.command).removeprefix("WORKER_COMMAND_")

    def wait_for_command(self, name, command):
        self.page.until(lambda: command in (self.page.row("Workers", name) or [])[5:6],
                        f"{name} is asked to {command}")
        self.assertEqual(self.command(name), command.upper())

    def test_workers_tell_what_they_run_and_how_much_at_once(self):
        self.hold("mailer", client_version="mailer/7", concurrency=4)
        self.page.open("workers")
        self.page.wait_for_row("Workers", "mailer")
        self.assertEqual(self.page.row("Workers", "mailer")[3:6], ["4", "mailer/7", "run"])

    def test_a_worker_is_asked_to_wait_to_go_on_and_to_stop(self):
        self.hold("mailer")
        self.page.open("workers")
        self.page.click("Quiet", within="//table")
        self.wait_for_command("mailer", "quiet")
        self.page.wait_for("mailer takes no more tasks")
        self.page.click("Run", within="//table")
        self.wait_for_command("mailer", "run")
        self.page.click("Stop…", within="//table")
        self.page.wait_for("finishes or gives back the 1 task that it holds")
        self.assertEqual(self.command("mailer"), "RUN")
        self.page.confirm("Leave it")
        self.assertEqual(self.command("mailer"), "RUN")
        self.page.click("Stop…", within="//table")
        self.page.confirm("Stop")
        self.wait_for_command("mailer", "stop")

    def test_a_worker_that_is_gone_meanwhile_is_told(self):
        self.hold("mailer")
        self.page.open("workers")
        self.page.click("Stop…", within="//table")
        self.client.broker.Heartbeat(broker_pb2.HeartbeatRequest(
            worker_id="mailer", end_session=True), timeout=DEADLINE_S)
        self.page.click("Stop", within="//dialog[@open]")
        self.page.wait_for("no worker of this handle has a session", "dialog")


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
