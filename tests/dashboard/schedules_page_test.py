"""The pages of schedules."""

import unittest

from browser.case import HOSTILE, DashboardTest


class SchedulesPage(DashboardTest):
    def keys(self):
        return [row[0] for row in self.page.rows("Schedules")]

    def test_schedules_of_all_queues_are_listed_by_planned_time(self):
        self.client.enqueue("mail", key="yearly", cron="0 6 1 1 *", time_zone="Asia/Tokyo")
        self.client.enqueue("other", key="hourly", period={"seconds": 3600},
                            delay={"seconds": 600})
        self.client.enqueue("other", key="no schedule")
        self.page.open("schedules")
        self.page.until(lambda: self.keys() == ["hourly", "yearly"], "both, the next one first")
        rows = self.page.rows("Schedules")
        self.assertEqual([row[2] for row in rows], ["every 1 h", "0 6 1 1 * Asia/Tokyo"])
        self.page.fill("Queue", "mail")
        self.page.click("Filter")
        self.page.until(lambda: self.keys() == ["yearly"], "that of one queue")
        self.assertEqual(self.page.place(), "schedules?queue=mail")
        self.page.click("mail", tag="a")
        self.page.until(lambda: self.page.place() == "queues/mail/schedules", "the queue's page")
        self.page.until(lambda: self.keys() == ["yearly"], "its schedule")

    def test_the_next_planned_times_are_shown(self):
        self.client.enqueue("mail", key="yearly", cron="0 6 1 1 *")
        self.page.open("schedules")
        self.page.click("Show", tag="summary")
        self.page.until(lambda: self.page.count(".times time") == 5, "five planned times")
        times = [time.get_attribute("datetime") for time in self.page.find(".times time")]
        self.assertEqual({time[4:] for time in times}, {"-01-01T06:00:00Z"})
        self.assertEqual(times, sorted(set(times)))

    def test_a_schedule_is_paused_resumed_and_triggered(self):
        task = self.client.enqueue("mail", key="digest", cron="0 6 1 1 *")
        self.page.open("queues/mail/schedules")
        self.page.click("Pause", within="//table")
        self.page.until(lambda: "paused" in self.page.rows("Schedules")[0][4], "it is paused")
        self.assertTrue(self.client.task(task).recurrence.paused)
        self.page.click("Resume", within="//table")
        self.page.until(lambda: "paused" not in self.page.rows("Schedules")[0][4], "it goes on")
        self.page.click("Trigger", within="//table")
        self.page.until(lambda: self.client.state(task) == "READY", "it runs now")
        self.page.until(lambda: "ready" in self.page.rows("Schedules")[0][4], "it is shown so")

    def test_the_last_run_that_failed_is_told(self):
        self.client.enqueue("mail", key=HOSTILE, period={"seconds": 3600})
        self.client.nack(self.client.lease("mail")[0], "RETRY", error={"type": HOSTILE})
        self.page.open("schedules")
        self.page.until(lambda: self.page.rows("Schedules"), "the schedule")
        row = self.page.rows("Schedules")[0]
        self.assertEqual([cell[:10] for cell in (row[0], row[5])], [HOSTILE[:10]] * 2)


if __name__ == "__main__":
    unittest.main()
