"""The pages of one queue."""

import unittest

from browser.case import HOSTILE, DashboardTest, address_of


class QueuePage(DashboardTest):
    def open(self, tab="status"):
        self.page.open(f"queues/mail/{tab}")

    def save(self):
        self.page.click("Save")
        self.page.wait_for("are saved", ".notices")

    def test_stages_are_counted(self):
        self.client.create_queue("mail", stages=[{"name": "fetch"}, {"name": "send"}])
        self.client.enqueue("mail")
        self.client.enqueue("mail", stage="send")
        self.open()
        self.page.until(lambda: [row[:2] for row in self.page.rows("Stages")] ==
                        [["fetch", "1"], ["send", "1"]], "both stages")
        self.page.click("send", tag="a")
        self.page.until(lambda: len(self.page.rows("Tasks")) == 1, "the task of that stage")

    def test_statistics_are_plotted_and_stand_in_tables(self):
        for _ in range(5):
            self.client.enqueue("mail")
        self.client.ack(*self.client.lease("mail", max_tasks=5))
        self.assertEqual(self.broker.terminate(), 0)  # it writes its minutes when it ends
        self.broker = self.start_dashboard()
        self.page.address = address_of(self.broker)
        self.open()
        self.page.until(lambda: [row[:2] for row in self.page.rows("Percentiles")] ==
                        [["Waited", "5"], ["Ran", "5"]], "the percentiles")
        self.page.until(lambda: self.page.count(".plot canvas") == 4, "four plots")
        self.page.click("As a table", tag="summary")
        self.assertEqual(sum(int(row[1]) for row in self.page.rows("Attempts that ended, by 1 m")),
                         5)
        self.page.click("7 days")
        self.page.until(lambda: self.page.place().endswith("?hours=7d"), "the range's address")

    def test_statistics_of_one_stage_are_shown(self):
        self.client.create_queue("mail", stages=[{"name": "fetch"}, {"name": "send"}])
        for stage, tasks in (("fetch", 2), ("send", 3)):
            for _ in range(tasks):
                self.client.enqueue("mail", stage=stage)
            for task in self.client.lease("mail", stage=stage, max_tasks=tasks):
                self.client.nack(task, "FAIL")
        self.open()
        self.page.choose("Statistics of", "send")
        self.page.until(lambda: self.page.place().endswith("?stage=send"), "the stage's address")
        self.page.until(lambda: self.page.row("Attempts by outcome", "3") or self.click_table(),
                        "three attempts of that stage")
        self.assertIsNone(self.page.row("Attempts by outcome", "5"))

    def click_table(self):
        """Opens the table below the plot of hours."""
        found = self.page.find("figure:has([aria-label='Attempts by outcome']) summary")
        if found and not self.page.find("details[open]"):
            found[-1].click()

    def test_a_queue_is_paused_and_resumed(self):
        self.client.create_queue("mail")
        self.open()
        self.page.click("Pause")
        self.page.choose("What to pause", "Both")
        self.page.fill("Why", HOSTILE)
        self.page.confirm("Pause")
        self.page.wait_for(HOSTILE, ".paused")
        self.assertEqual(self.client.queue("mail").pause_reason, HOSTILE)
        self.page.click("Resume")
        self.page.until(lambda: not self.page.find(".paused"), "the pause is over")
        self.assertEqual(self.client.queue("mail").pause_reason, "")

    def test_a_queue_is_deleted_by_its_name(self):
        self.client.create_queue("mail")
        self.client.enqueue("mail")
        self.client.enqueue("mail")
        self.open()
        self.page.click("Queue: delete")
        self.page.wait_for("with 2 tasks", "dialog")
        self.page.fill("The name of the queue", "mall")
        self.page.click("Delete it", within="//dialog[@open]")
        self.page.wait_for("Type the name", "dialog")
        self.assertEqual(self.client.queue("mail").counts.ready_count, 2)
        self.page.fill("The name of the queue", "mail")
        self.page.confirm("Delete it")
        self.page.wait_for("done", ".progress")
        self.assertIn("Delete the queue", self.page.text())
        self.page.open("queues/mail/status")
        self.page.wait_for("no queue is named")

    def test_only_what_was_changed_is_saved(self):
        self.client.create_queue("mail", keep_results=True, max_depth=7)
        self.open("settings")
        self.page.fill("First delay", "1m 30s")
        self.page.fill("Attempts", "3")
        self.page.fill("Most tasks", "")
        self.page.check("Keep payloads in the history")
        self.save()
        settings = self.client.queue("mail").settings
        self.assertEqual((settings.retry.base_delay.seconds, settings.retry.max_attempts,
                          settings.HasField("max_depth"), settings.keep_payloads,
                          settings.keep_results), (90, 3, False, True, True))

    def test_stages_are_added(self):
        self.client.create_queue("mail")
        self.open("settings")
        self.page.click("Add a stage")
        self.page.fill("Stage 1", "fetch")
        self.save()
        self.assertEqual([stage.name for stage in self.client.queue("mail").settings.stages],
                         ["fetch"])

    def test_what_cannot_be_read_is_told_at_its_field(self):
        self.client.create_queue("mail")
        self.open("settings")
        self.page.fill("Lease duration", "soon")
        self.page.click("Save")
        self.page.wait_for("“soon” is not a duration: write it as 90s, 5m or 1h 30m.")
        self.assertEqual(self.page.field("Lease duration").get_attribute("aria-invalid"), "true")
        self.page.fill("Lease duration", "10d")
        self.page.click("Save")
        self.page.wait_for("settings.lease_duration", ".failure")

    def test_settings_that_somebody_else_changed_are_not_overwritten(self):
        self.client.create_queue("mail")
        self.open("settings")
        self.page.fill("Days of history", "9")
        self.client.update_queue("mail", failed_days=77)
        self.page.wait_for("Somebody changed this queue since you began.")
        self.page.click("Save")
        self.page.wait_for("Nothing was saved.")
        self.assertEqual(self.page.field("Days of history").get_attribute("value"), "9")
        self.assertEqual(self.client.queue("mail").settings.history_days, 7)
        self.page.click("Load the new settings, keep my changes")
        self.assertEqual(self.page.field("Days of failed tasks").get_attribute("value"), "77")
        self.save()
        settings = self.client.queue("mail").settings
        self.assertEqual((settings.history_days, settings.failed_days), (9, 77))

    def test_a_task_is_enqueued_from_the_page(self):
        self.client.create_queue("mail")
        self.open("enqueue")
        self.page.fill("Payload", "{\"a\": ")
        self.page.choose("It is", "JSON, checked")
        self.page.click("Enqueue")
        self.page.wait_for("This is no JSON.")
        self.page.fill("Payload", "{\"a\": \"\u00fc\"}")
        self.page.fill("Key", "k-1")
        self.page.click("More fields", tag="summary")
        self.page.fill("Cron", "0 6 * * 1")
        self.page.fill("Headers", "tenant: acme: inc")
        self.page.click("Show the next planned times")
        self.page.until(lambda: self.page.count(".times li") == 5, "five planned times")
        self.page.click("Enqueue")
        self.page.wait_for("created", ".made")
        task_id = self.page.text(".made a")
        self.assertEqual(self.client.task(task_id).recurrence.cron, "0 6 * * 1")
        self.page.click(task_id, tag="a")
        self.page.wait_for("acme: inc", "[aria-label=Headers] table")
        self.page.wait_for("\"a\": \"\u00fc\"", "[aria-label=Payload] pre")

    def test_a_queue_that_is_not_there_is_told(self):
        self.open()
        self.page.wait_for("QUEUE_NOT_FOUND")


if __name__ == "__main__":
    unittest.main()
