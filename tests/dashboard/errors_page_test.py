"""The pages of errors."""

import unittest

from browser.case import HOSTILE, DashboardTest
from support.client import DEADLINE_S, admin_pb2, task_pb2


class ErrorsPage(DashboardTest):
    def fail(self, queue, error_type, tasks=1):
        for _ in range(tasks):
            self.client.enqueue(queue)
        for task in self.client.lease(queue, max_tasks=10):
            self.client.nack(task, "FAIL", error=task_pb2.TaskError(
                type=error_type, text=f"{error_type} of mailer 7".encode()))

    def group(self):
        """The only one, muted or not."""
        return self.client.admin.ListErrorGroups(
            admin_pb2.ListErrorGroupsRequest(), timeout=DEADLINE_S).groups[0]

    def annotate(self, **changes):
        self.client.admin.AnnotateErrorGroup(admin_pb2.AnnotateErrorGroupRequest(
            queue="mail", fingerprint=self.group().fingerprint, **changes), timeout=DEADLINE_S)

    def wait_for_groups(self, amount):
        def is_so():
            rows = self.page.rows("Error groups")
            return len([row for row in rows if len(row) > 1]) == amount if rows else False
        self.page.until(is_so, f"{amount} groups")

    def test_groups_of_all_queues_are_listed_and_lead_to_their_tasks(self):
        self.fail("mail", HOSTILE, tasks=3)
        self.fail("other", "ValueError")
        self.page.open("errors")
        self.wait_for_groups(2)
        self.assertIn(HOSTILE, self.page.rows("Error groups")[1][0])
        self.assertEqual(list(self.group().hourly_failure_counts), [0] * 47 + [1])
        curve = 'svg[aria-label="3 failures in the last two days"]'
        self.page.until(lambda: self.page.count(curve) == 1, "the curve")
        self.page.click("3", tag="a")
        self.page.until(lambda: len(self.page.rows("Tasks")) == 3, "the tasks of the group")
        self.page.open("errors")
        self.page.fill("Queue", "other")
        self.page.click("Filter")
        self.wait_for_groups(1)
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
        self.wait_for_groups(1)
        self.page.wait_for("ValueError", "main")

    def test_a_note_is_written_and_taken_away(self):
        self.fail("mail", "TimeoutError")
        self.page.open("errors")
        self.page.click("Note…")
        self.page.fill("Note", HOSTILE)
        self.page.confirm("Save")
        self.page.wait_for(HOSTILE, ".note")
        self.assertEqual(self.group().note.text, HOSTILE)
        self.page.click("Note…")
        self.page.fill("Note", "")
        self.page.confirm("Save")
        self.page.until(lambda: not self.page.find(".note"), "the note is gone")
        self.assertEqual(self.group().note.text, "")

    def test_a_note_that_is_too_long_is_told_and_stays(self):
        self.fail("mail", "TimeoutError")
        self.page.open("errors")
        self.page.click("Note…")
        field = self.page.field("Note")
        self.page.run("arguments[0].value = 'n'.repeat(4097);"
                      "arguments[0].dispatchEvent(new Event('input', {bubbles: true}))", field)
        self.page.click("Save", within="//dialog[@open]")
        self.page.wait_for("INVALID_FIELD", "dialog[open]")
        self.assertEqual(len(self.page.field("Note").get_attribute("value")), 4097)

    def test_a_note_that_somebody_else_changed_is_shown_while_another_is_typed(self):
        self.fail("mail", "TimeoutError")
        self.page.open("errors")
        self.page.click("Note…")
        self.page.fill("Note", "mine")
        self.annotate(note="theirs")
        self.page.wait_for("theirs", "dialog[open] pre")
        self.annotate(muted=True)  # it leaves the list, and what is typed stays
        self.wait_for_groups(0)
        self.assertEqual(self.page.field("Note").get_attribute("value"), "mine")
        self.page.confirm("Save")
        self.assertEqual(self.group().note.text, "mine")

    def test_a_muted_group_is_shown_only_when_it_is_asked_for(self):
        self.fail("mail", "TimeoutError")
        self.page.open("errors")
        self.page.click("Mute")
        self.wait_for_groups(0)
        self.page.wait_for("No task has failed, or all errors are muted.", "main")
        self.page.check("Show muted ones")
        self.wait_for_groups(1)
        self.assertEqual(self.page.place(), "errors?muted=show")
        self.page.wait_for("muted", "table .tag")
        self.page.click("Unmute")
        self.page.until(lambda: not self.page.find("table .tag"), "it is no longer muted")
        self.assertFalse(self.group().note.muted)


if __name__ == "__main__":
    unittest.main()
