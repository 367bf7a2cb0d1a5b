"""The page of all queues."""

import unittest

from browser.case import HOSTILE, DashboardTest

ROWS = 50  # of a page
QUEUES = 2000


class QueuesPage(DashboardTest):
    def test_a_queue_shows_what_it_has(self):
        for _ in range(3):
            self.client.enqueue("mail")
        self.client.enqueue("mail", delay={"seconds": 3600})
        failing = self.client.lease("mail")[0]
        self.client.nack(failing, "FAIL")
        self.client.lease("mail")
        self.page.open()
        self.page.wait_for_row("Queues", "mail")
        self.page.until(lambda: self.page.row("Queues", "mail")[1:4] == ["1", "1", "1"],
                        "a ready, a delayed and a leased task")
        self.page.click("1", tag="a")
        self.page.wait_for("Filter", "main")
        self.assertEqual(self.page.place(), "queues/mail/tasks?state=READY")

    def test_it_follows_what_happens(self):
        self.client.create_queue("mail")
        self.page.open()
        self.page.wait_for_row("Queues", "mail")
        self.client.enqueue("mail")
        self.page.until(lambda: self.page.row("Queues", "mail")[1] == "1", "the new task")

    def test_a_pause_is_seen_and_its_reason_is_text(self):
        self.client.create_queue("mail")
        self.client.pause("mail", "BOTH", reason=HOSTILE)
        self.page.open()
        self.page.wait_for("leases and enqueues paused")
        self.assertEqual(self.page.find("tbody .tag")[0].get_attribute("title"), HOSTILE)

    def test_filter_and_order_are_in_the_address(self):
        for name, tasks in (("mail", 2), ("mail.eu", 5), ("other", 9)):
            self.client.enqueue_all(name, [self.client.new_task() for _ in range(tasks)])
        self.page.open("?name=mail&sort=ready&order=falling")
        self.page.until(lambda: [row[:2] for row in self.page.rows("Queues")] ==
                        [["mail.eu", "5"], ["mail", "2"]], "two queues, the larger one first")
        self.page.click("Ready")
        self.page.until(lambda: [row[0] for row in self.page.rows("Queues")] ==
                        ["mail", "mail.eu"], "the other order")
        self.page.fill("Filter by name", "oth")
        self.page.until(lambda: [row[0] for row in self.page.rows("Queues")] == ["other"],
                        "the other queue")
        self.assertIn("name=oth", self.page.place())
        self.page.wait_for("1 of 3 queues")
        self.page.fill("Filter by name", HOSTILE)
        self.page.wait_for("No queue has this in its name.")

    def test_of_many_queues_a_page_is_drawn_and_only_rows_in_view_have_a_curve(self):
        for number in range(QUEUES):
            self.client.create_queue(f"q{number:04}")
        self.page.open()
        self.page.wait_for(f"Page 1 of {QUEUES // ROWS}")
        self.assertEqual(len(self.page.rows("Queues")), ROWS)
        self.page.until(lambda: self.page.count(".spark svg"), "a curve")
        self.client.enqueue("q0000")  # what the page learns later than the curves of all rows
        self.page.until(lambda: self.page.row("Queues", "q0000")[1] == "1", "the new task")
        self.assertLess(self.page.count(".spark svg"), ROWS)
        self.page.run("document.querySelector('tbody tr:last-child').scrollIntoView()")
        self.page.until(lambda: self.page.find("tbody tr:last-child svg"), "the last row's curve")
        self.page.click("Next page")
        self.page.wait_for_row("Queues", f"q{ROWS:04}")
        self.assertEqual(self.page.place(), "?page=2")

    def test_a_queue_is_made(self):
        self.page.open()
        self.page.click("New queue")
        self.page.fill("Name", "no good name")
        self.page.click("Make the queue")
        self.page.wait_for("INVALID_FIELD", "dialog[open]")
        self.page.fill("Name", "orders.eu")
        self.page.confirm("Make the queue")
        self.page.wait_for("Settings", "main")
        self.assertEqual(self.page.place(), "queues/orders.eu/settings")
        self.assertEqual(self.client.queue("orders.eu").lane_count, 1)


if __name__ == "__main__":
    unittest.main()
