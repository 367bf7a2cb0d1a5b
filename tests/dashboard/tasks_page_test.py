"""The lists of tasks, and what is done to many of them."""

import unittest

from browser.case import HOSTILE, DashboardTest
from support.client import admin_pb2, bulk_pb2, seconds, task_pb2

ROWS = 50  # of a page


class TasksPage(DashboardTest):
    def open(self, query=""):
        self.page.open(f"queues/mail/tasks{query}")

    def keys(self):
        """Of the tasks that are listed; none while there is no list."""
        columns = self.page.run(
            "return [...document.querySelectorAll('[aria-label=Tasks] th[scope=col]')]"
            ".map((cell) => cell.innerText)")
        if not columns:
            return None
        return [row[columns.index("Key")] for row in self.page.rows("Tasks") if len(row) > 1]

    def wait_for_keys(self, *keys):
        self.page.until(lambda: self.keys() == list(keys), f"the tasks {keys}")

    def fail(self, *keys, error_type="TimeoutError"):
        """Failed tasks with these keys."""
        for key in keys:
            self.client.enqueue("mail", key=key)
        for task in self.client.lease("mail", max_tasks=100):
            self.client.nack(task, "FAIL", error=task_pb2.TaskError(type=error_type))

    def select(self, *keys):
        for key in keys:
            task_id = next(row[1] for row in self.page.rows("Tasks") if key in row)
            self.page.find(f"[aria-label='Select {task_id}']")[0].click()

    def test_the_filter_is_in_the_address(self):
        self.fail("failed-1", error_type=HOSTILE)
        self.fail("failed-2")
        self.client.enqueue("mail", key="ready-1", headers={"tenant": "acme"}, priority=4)
        self.client.enqueue("mail", b"find me", key="ready-2")
        self.open()
        self.wait_for_keys("ready-2", "ready-1")
        self.page.check("failed")
        self.page.click("Filter")
        self.wait_for_keys("failed-2", "failed-1")
        self.assertEqual(self.page.place(), "queues/mail/tasks?state=FAILED")
        self.page.click("More filters", tag="summary")
        self.page.fill("Error type", HOSTILE)
        self.page.click("Filter")
        self.wait_for_keys("failed-1")
        self.page.chrome.refresh()
        self.wait_for_keys("failed-1")
        self.assertEqual(self.page.field("Error type").get_attribute("value"), HOSTILE)
        for query, keys in (("header=tenant%3A%20acme", ["ready-1"]),
                            ("payload=find", ["ready-2"]), ("priority=4", ["ready-1"]),
                            ("key=ready&order=oldest", ["ready-1", "ready-2"]),
                            ("min_age=1h", []), ("max_age=1h&key=ready-2", ["ready-2"])):
            with self.subTest(query):
                self.open(f"?{query}")
                self.page.until(lambda: self.page.find("[aria-label=Tasks] table"), "a list")
                self.wait_for_keys(*keys)

    def test_a_filter_that_cannot_be_read_is_told(self):
        self.client.create_queue("mail")
        self.open("?min_age=soon&from=yesterday")
        self.page.wait_for("“soon” is not a duration")
        self.page.wait_for("“yesterday” is not a date")

    def test_pages_follow_each_other(self):
        self.client.enqueue_all("mail", [self.client.new_task(key=f"k{number:03}")
                                         for number in range(ROWS + 5)])
        self.open()
        self.page.until(lambda: len(self.keys() or ()) == ROWS, "a page")
        self.page.click("Next page")
        self.page.until(lambda: (self.keys() or [])[-1:] == ["k000"], "the last page")
        self.assertEqual(len(self.keys()), 5)
        self.page.click("Back")
        self.page.until(lambda: len(self.keys() or ()) == ROWS, "the first page")

    def test_tasks_of_several_queues_are_one_list(self):
        for queue in ("mail", "other", "third"):
            self.client.enqueue(queue, key=f"of-{queue}")
        self.page.open("tasks")
        self.page.until(lambda: sorted(self.keys() or ()) == ["of-mail", "of-other", "of-third"],
                        "all")
        self.page.fill("Queues", "mail, third")
        self.page.click("Filter")
        self.page.until(lambda: sorted(self.keys() or ()) == ["of-mail", "of-third"], "two")
        self.page.wait_for("Choose one queue")

    def test_selected_tasks_are_changed(self):
        self.fail("a", "b", "c")
        self.open("?state=FAILED")
        self.wait_for_keys("c", "b", "a")
        self.select("a", "b")
        self.page.wait_for("2 selected")
        self.page.click("Retry 2")
        self.page.wait_for("Retried: 2 tasks.")
        self.wait_for_keys("c")
        self.select("c")
        self.page.click("Delete")
        self.page.confirm("Delete")
        self.page.wait_for("No task matches the filter.")
        self.open()
        self.wait_for_keys("b", "a")

    def test_those_that_cannot_be_changed_are_told(self):
        self.client.enqueue("mail", key="a")
        self.client.enqueue("mail", key="b")
        self.open()
        self.wait_for_keys("b", "a")
        self.page.click("Live")  # so that the page does not see what happens next
        self.client.ack(*self.client.lease("mail"))
        self.select("a", "b")
        self.page.click("Set priority 2")
        self.page.fill("Priority", "5", within="//dialog[@open]")
        self.page.confirm("Set priority")
        self.page.wait_for("1 task stayed as before:", ".failure")
        self.page.wait_for("New priority: 1 task.")

    def test_all_that_match_are_counted_and_then_changed(self):
        self.fail(*(f"k{number}" for number in range(7)))
        self.fail("other", error_type="ValueError")
        self.open("?state=FAILED&error_type=TimeoutError")
        self.page.choose("Action", "Delete")
        self.page.click("Count them first")
        self.page.wait_for("Delete: count only", "h1")
        self.page.chrome.refresh()  # the id is in the address
        self.page.click("Delete: 7 tasks")
        self.page.confirm("Delete")
        self.page.until(lambda: self.page.text("h1") == "Delete", "the operation that deletes")
        self.page.wait_for("100 %", ".progress")
        self.page.wait_for("done", ".progress")
        self.page.wait_for("Changed\n7")
        self.open("?state=FAILED")
        self.wait_for_keys("other")
        self.page.open("operations")
        self.page.until(lambda: [row[0] for row in self.page.rows("Operations")] ==
                        ["Delete", "Delete: count only"], "both operations")

    def test_an_operation_is_stopped(self):
        self.client.enqueue("mail")
        stopped = self.client.admin.StartBulkOperation(count_of_all(), timeout=60).operation
        # As if a broker were still at it: no broker takes up what has a step this late.
        self.database.run("UPDATE skiplane.bulk_operation SET state = 1,"
                          " update_time = now() + interval '1 hour'")
        self.page.open(f"operations/{stopped.operation_id}")
        self.page.click("Stop")
        self.page.confirm("Stop it")
        self.page.wait_for("stopped", ".progress")


def count_of_all():
    return admin_pb2.StartBulkOperationRequest(
        filter=bulk_pb2.TaskFilter(queue="mail", all=True), dry_run=True,
        action=bulk_pb2.BulkAction(set_priority=5), wait=seconds(60))


if __name__ == "__main__":
    unittest.main()
