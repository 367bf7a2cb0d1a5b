"""The page of one task."""

import unittest

from browser.case import HOSTILE, TURNED, DashboardTest
from support.client import task_pb2

LARGE = 1 << 20


class TaskPage(DashboardTest):
    def open(self, task_id):
        self.page.open(f"tasks/{task_id}")
        self.page.wait_for("Details")

    def facts(self):
        return dict(self.page.run(
            "return [...document.querySelectorAll('.facts > div')].map((row) => "
            "[row.children[0].innerText, row.children[1].innerText])"))

    def forms(self, form):
        """Shows the payload in another form; what is shown then."""
        self.page.click(form, tag="label")
        return self.page.text("[aria-label=Payload] pre")

    def test_it_says_what_the_task_is_and_why_it_does_not_run(self):
        task = self.client.enqueue("mail", b"{\"n\": 12345678901234567890, \"a\": []}", key="k-1",
                                   priority=7, headers={"tenant": "acme"})
        self.open(task)
        facts = self.facts()
        self.assertEqual((facts["Key"], facts["Priority"], facts["Attempts"]),
                         ("k-1", "7", "0 of 10"))
        self.page.wait_for("No worker asks this broker for its queue and stage", ".explained")
        self.assertEqual(self.page.rows("Headers"), [["tenant", "acme"]])
        self.assertEqual(self.page.text("[aria-label=Payload] pre"),
                         "{\n  \"n\": 12345678901234567890,\n  \"a\": []\n}")

    def test_a_payload_has_three_forms(self):
        self.open(self.client.enqueue("mail", b"[1,2]"))
        self.assertEqual(self.page.text("[aria-label=Payload] pre"), "[\n  1,\n  2\n]")
        self.assertEqual(self.forms("Text"), "[1,2]")
        self.assertEqual(self.forms("Hex").split(), ["000000", "5b", "31", "2c", "32", "5d",
                                                     "[1,2]"])

    def test_bytes_that_are_no_text_are_shown_as_hex(self):
        self.open(self.client.enqueue("mail", bytes([0xff, 0xfe, 0x00])))
        self.assertIn("ff fe 00", self.page.text("[aria-label=Payload] pre"))
        self.page.wait_for("not UTF-8")

    def test_hostile_content_is_text(self):
        task = self.client.enqueue("mail", HOSTILE.encode(), key=HOSTILE + TURNED,
                                   headers={HOSTILE: HOSTILE}, content_type=HOSTILE)
        leased = self.client.lease("mail")[0]
        self.client.nack(leased, "FAIL", error=task_pb2.TaskError(
            type=HOSTILE, text=(HOSTILE + "\x1b[31m").encode(), fingerprint=HOSTILE))
        self.open(task)
        self.assertEqual(self.facts()["Key"], HOSTILE + TURNED.replace("\u202e", "U+202E"))
        self.assertEqual(self.page.text("[aria-label=Payload] pre"), HOSTILE)
        self.assertEqual(self.page.rows("Headers"), [[HOSTILE, HOSTILE]])
        self.assertEqual(self.page.text("[aria-label='Last error'] pre"), HOSTILE + "U+001B[31m")
        self.assertEqual(self.page.count("main img, main script"), 0)

    def test_a_large_line_is_cut_until_all_of_it_is_asked_for(self):
        self.open(self.client.enqueue("mail", b"x" * LARGE))
        self.assertEqual(len(self.page.text("[aria-label=Payload] pre")), 4000)
        self.assertLess(self.page.run("return document.documentElement.scrollWidth"), 1300)
        self.page.click("Show all: 1,044,576 more characters")
        self.page.until(lambda: len(self.page.text("[aria-label=Payload] pre")) == LARGE, "all")

    def test_attempts_and_their_errors_are_listed(self):
        self.client.create_queue("mail", keep_results=True)
        task = self.client.enqueue("mail")
        self.client.nack(self.client.lease("mail")[0], "FAIL", error=task_pb2.TaskError(
            type="TimeoutError", text=b"no answer\nin 30 s"))
        self.open(task)
        self.assertEqual([row[:2] for row in self.page.rows("Attempts")], [["1", "failed"]])
        self.page.click("TimeoutError", tag="summary")
        self.page.wait_for("no answer\nin 30 s", "[aria-label=Attempts] table")

    def test_a_failed_task_is_retried(self):
        task = self.client.enqueue("mail")
        self.client.nack(self.client.lease("mail")[0], "FAIL")
        self.open(task)
        self.page.click("Retry")
        self.page.wait_for("Retried: 1 task.")
        self.page.until(lambda: self.client.state(task) == "READY", "it is ready again")
        self.page.wait_for("ready", ".lead")
        self.page.wait_for("RetryTask", "[aria-label='Changes by operators']")

    def test_a_task_is_prioritized_postponed_and_cancelled(self):
        task = self.client.enqueue("mail")
        self.open(task)
        self.page.click("Set priority")
        self.page.fill("Priority", "1.5")
        self.page.click("Set priority", within="//dialog[@open]")
        self.page.wait_for("A priority is a whole number", "dialog[open]")
        self.page.fill("Priority", "-3")
        self.page.confirm("Set priority")
        self.page.until(lambda: self.client.task(task).priority == -3, "its priority")
        self.page.click("Postpone")
        self.page.fill("Postpone by", "1h 30m")
        self.page.confirm("Postpone")
        self.page.until(lambda: self.client.state(task) == "SCHEDULED", "it waits")
        self.page.click("Run now")
        self.page.until(lambda: self.client.state(task) == "READY", "it runs now")
        self.page.click("Reschedule")
        self.page.fill("Run at", "2031-05-06T07:08:09")
        self.page.confirm("Reschedule")
        self.page.until(lambda: self.client.task(task).schedule_time.ToDatetime().year == 2031,
                        "its time")
        self.page.click("Cancel")
        self.page.confirm("Cancel")
        self.page.until(lambda: self.client.state(task) == "CANCELLED", "it is cancelled")
        self.page.wait_for("cancelled", ".lead")

    def test_a_periodic_task_is_paused_triggered_and_resumed(self):
        task = self.client.enqueue("mail", key="digest", cron="0 6 * * 1", time_zone="Asia/Tokyo")
        self.open(task)
        self.page.wait_for("Next planned times")
        self.page.click("Pause")
        self.page.wait_for("paused", ".lead")
        self.page.click("Resume")
        self.page.wait_until_gone("paused", ".lead")
        self.page.click("Trigger")
        self.page.until(lambda: self.client.state(task) == "READY", "it runs now")

    def test_a_task_that_goes_while_it_is_looked_at_stays_as_it_was(self):
        task = self.client.enqueue("mail", b"keep me")
        self.open(task)
        self.page.click("Delete")
        self.page.confirm("Delete")
        self.page.wait_for("This task is no longer known")
        self.assertEqual(self.page.text("[aria-label=Payload] pre"), "keep me")
        self.assertFalse(self.page.has("button", "Delete"))

    def test_a_task_that_was_never_there_is_told(self):
        self.page.open("tasks/1-99999999")
        self.page.wait_for("TASK_NOT_FOUND")


if __name__ == "__main__":
    unittest.main()
