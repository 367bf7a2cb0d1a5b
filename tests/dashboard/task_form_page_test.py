"""The forms of a task: retry with other content, copy, move."""

import unittest

from browser.case import HOSTILE, DashboardTest
from support.client import DEADLINE_S, admin_pb2

DIALOG = "//dialog[@open]"
BYTES = bytes([0, 13, 10, 255])  # no field for text can hold them


class TaskForms(DashboardTest):
    def open(self, task):
        self.page.open(f"tasks/{task}")
        self.page.wait_for("Details")

    def failed(self, payload=b"", **options):
        task = self.client.enqueue("mail", payload, **options)
        self.client.nack(self.client.lease("mail")[0], "FAIL")
        return task

    def content(self, task):
        found = self.client.admin.GetTask(
            admin_pb2.GetTaskRequest(task_id=task, view="TASK_VIEW_FULL"), timeout=DEADLINE_S).task
        return found.payload, found.content_type, dict(found.headers)

    def typed(self, label):
        return self.page.field(label, DIALOG).get_attribute("value")

    def send(self, verb):
        """Leaves the dialog open."""
        self.page.click(verb, within=DIALOG + "//div[@class='buttons']")

    def test_a_failed_task_is_retried_with_other_content(self):
        task = self.failed(b"{\"n\": 1}", content_type="text/plain", headers={"tenant": "acme"})
        self.open(task)
        self.page.click("Retry with other content")
        self.assertEqual((self.typed("New payload"), self.typed("New headers")),
                         ("{\"n\": 1}", "tenant: acme"))
        self.page.choose("Written as", "JSON, checked")
        self.page.fill("New payload", "{\"n\": ", DIALOG)
        self.send("Retry")
        self.page.wait_for("This is no JSON.", "dialog[open]")
        self.assertEqual(self.client.state(task), "FAILED")
        self.page.fill("New payload", "{\"n\": 2}", DIALOG)
        self.page.fill("New content type", "application/json", DIALOG)
        self.page.fill("New headers", "tenant: acme\nhtml: " + HOSTILE, DIALOG)
        self.page.confirm("Retry")
        self.page.wait_for("is retried.", ".notices")
        self.assertEqual(self.client.state(task), "READY")
        self.assertEqual(self.content(task), (
            b"{\"n\": 2}", "application/json", {"tenant": "acme", "html": HOSTILE}))

    def test_bytes_that_cannot_be_typed_are_changed_as_hex_and_stay_else(self):
        task = self.failed(BYTES, headers={"a:b": "1\n2"})
        self.open(task)
        self.page.click("Retry with other content")
        self.assertEqual(self.typed("New payload"), "00 0d 0a ff")
        self.page.choose("Written as", "text")
        self.page.wait_for("As text these bytes cannot be typed", "dialog[open]")
        self.page.fill("New payload", "00 0d 0a ff 7", DIALOG)
        self.send("Retry")
        self.page.wait_for("This is no hex", "dialog[open]")
        self.page.fill("New payload", "000d0aff 7f", DIALOG)
        self.page.confirm("Retry")
        self.page.until(lambda: self.client.state(task) == "READY", "it is ready")
        self.assertEqual(self.content(task), (BYTES + b"\x7f", "", {"a:b": "1\n2"}))

    def test_what_was_typed_stays_when_the_task_ended_meanwhile(self):
        task = self.failed(b"old")
        self.open(task)
        self.page.click("Retry with other content")
        self.page.fill("New payload", "typed with care", DIALOG)
        self.client.admin.RetryTask(
            admin_pb2.RetryTaskRequest(task_id=task), timeout=DEADLINE_S)
        self.client.admin.CancelTask(
            admin_pb2.CancelTaskRequest(task_id=task), timeout=DEADLINE_S)
        self.page.wait_for("cancelled now and cannot be retried as it is", "dialog[open]")
        self.send("Retry")
        self.page.wait_for("WRONG_STATE", "dialog[open]")
        self.assertEqual(self.typed("New payload"), "typed with care")
        self.page.click("Leave it", within=DIALOG)
        self.page.click("Copy…")
        self.page.check("With other content")
        self.assertEqual(self.typed("New payload"), "typed with care")
        self.page.confirm("Copy")
        self.page.wait_for("The copy is", ".made")
        self.assertEqual(self.content(self.page.text(".made a"))[0], b"typed with care")

    def test_a_task_is_copied_to_another_queue_stage_and_key(self):
        self.client.create_queue("video", stages=[{"name": "fetch"}, {"name": "send"}])
        self.client.enqueue("video", key="taken")
        task = self.client.enqueue("mail", b"same", headers={"a": "b"})
        self.open(task)
        self.page.click("Copy…")
        self.page.fill("To queue", "video", DIALOG)
        self.page.fill("At stage", "send", DIALOG)
        self.page.fill("Key of the copy", "taken", DIALOG)
        self.send("Copy")
        self.page.wait_for("KEY_EXISTS", "dialog[open]")
        self.page.fill("Key of the copy", "free", DIALOG)
        self.page.confirm("Copy")
        self.page.wait_for("The copy is", ".made")
        copy = self.page.text(".made a")
        found = self.client.task(copy)
        self.assertEqual((found.queue, found.stage, found.key), ("video", "send", "free"))
        self.assertEqual(self.content(copy), (b"same", "", {"a": "b"}))
        self.assertEqual(self.client.state(task), "READY")
        self.page.click(copy, tag="a")
        self.page.wait_for(f"Task {copy}", "h1")

    def test_a_task_is_moved_and_its_new_page_is_shown(self):
        task = self.failed(b"same", key="k-1")
        self.open(task)
        self.page.click("Move…")
        self.page.fill("To queue", "nowhere", DIALOG)
        self.send("Move")
        self.page.wait_for("QUEUE_NOT_FOUND", "dialog[open]")
        self.client.create_queue("other")
        self.page.fill("To queue", "other", DIALOG)
        self.page.click("Move", within=DIALOG)
        self.page.until(lambda: task not in self.page.place(), "the page of its new id")
        moved = self.page.place().removeprefix("tasks/")
        self.page.wait_for("in other", ".lead")
        self.assertEqual((self.client.task(moved).key, self.client.state(moved)), ("k-1", "READY"))


if __name__ == "__main__":
    unittest.main()
