"""What axe finds wrong for who uses a screen reader, a keyboard or a display of low contrast: on
each page, in light and dark."""

import json
import os
import unittest

from browser import node
from browser.case import HOSTILE, DashboardTest
from browser.token_case import TokenTest
from support.client import admin_pb2, bulk_pb2, new_id, task_pb2

RULES = {"resultTypes": ["violations"]}
RUN = "const done = arguments[1]; axe.run(document, JSON.parse(arguments[0])).then(done)"


class Axe:
    """What a test needs beside its broker."""

    @classmethod
    def setUpClass(cls):
        modules, why_not = node.modules()
        if why_not:
            raise unittest.SkipTest(why_not)
        with open(os.path.join(modules, "axe-core", "axe.min.js"), encoding="utf-8") as file:
            cls.axe = file.read()
        super().setUpClass()

    def assert_no_grave_fault(self, what):
        """In light and dark."""
        for scheme in ("light", "dark"):
            with self.subTest(what, scheme=scheme):
                self.chrome.set_scheme(scheme)
                self.assertEqual(self.grave(), [])

    def grave(self):
        """Serious and critical findings, as texts."""
        self.page.run(self.axe)
        found = self.page.chrome.execute_async_script(RUN, json.dumps(RULES))
        return [f"{finding['id']}: {finding['help']}: {element['html'][:200]}"
                for finding in found["violations"] if finding["impact"] in ("serious", "critical")
                for element in finding["nodes"]]


class Accessible(Axe, DashboardTest):
    def fill_queue(self):
        """A task of each kind; the one that failed, and an operation."""
        self.client.create_queue("mail", stages=[
            {"name": "fetch"}, {"name": "send", "retry": {"max_attempts": 3}}])
        self.client.enqueue("mail", key="failing")
        self.client.nack(self.client.lease("mail")[0], "FAIL", error=task_pb2.TaskError(
            type=HOSTILE, text=b"no answer"))
        failed = self.client.admin.ListTasks(admin_pb2.ListTasksRequest(
            filter=bulk_pb2.TaskFilter(queue="mail", states=[task_pb2.TASK_STATE_FAILED])),
            timeout=60).tasks[0].task_id
        self.client.enqueue("mail", b"{}", headers={"tenant": "acme"})
        self.client.lease("mail", worker_id=new_id(), worker_name="worker-1")
        self.client.enqueue("mail", b"{}", key="digest", cron="@daily")
        self.client.pause("mail", reason="for a while")
        operation = self.client.admin.StartBulkOperation(admin_pb2.StartBulkOperationRequest(
            filter=bulk_pb2.TaskFilter(queue="mail", all=True), dry_run=True,
            action=bulk_pb2.BulkAction(set_priority=1)), timeout=60).operation.operation_id
        return failed, operation

    def test_no_page_has_a_grave_fault(self):
        failed, operation = self.fill_queue()
        for place in ("", "queues/mail/status", "queues/mail/tasks?state=FAILED&priority=0",
                      "queues/mail/errors", "queues/mail/enqueue", "queues/mail/settings",
                      f"tasks/{failed}", "tasks", "schedules", "errors", "operations",
                      f"operations/{operation}", "workers", "brokers", "audit", "me", "nowhere"):
            self.page.open(place)
            self.page.wait_until_gone("Loading", "main")
            self.assert_no_grave_fault(place)

    def test_nor_has_a_dialog(self):
        failed, _ = self.fill_queue()
        self.page.open(f"tasks/{failed}")
        self.page.click("Delete")
        self.page.wait_for("This cannot be taken back.", "dialog[open]")
        self.assert_no_grave_fault("a question")
        self.page.click("Leave it", within="//dialog[@open]")
        self.page.click("Copy…")
        self.page.check("With other content")
        self.page.wait_for("New payload", "dialog[open]")
        self.assert_no_grave_fault("a form")
        self.page.open("errors")
        self.page.click("Note…")
        self.page.wait_for("For other operators", "dialog[open]")
        self.assert_no_grave_fault("a note")

    def test_a_fault_is_found(self):
        self.page.open()
        self.page.field("Filter by name")  # the list is there
        self.page.run("document.querySelector('main label').remove()")
        self.assertIn("label", " ".join(self.grave()))


class AccessibleLogIn(Axe, TokenTest):
    def test_the_form_has_no_grave_fault(self):
        self.page.open()
        self.page.wait_for("Log in to Skiplane", "dialog[open]")
        self.assert_no_grave_fault("the form")


if __name__ == "__main__":
    unittest.main()
