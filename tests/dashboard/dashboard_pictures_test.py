"""The pictures of docs/DASHBOARD.md. This writes them anew:
SKIPLANE_DASHBOARD_PICTURES=FOLDER tests/run -R dashboard_pictures"""

import os
import unittest

from browser import shop
from browser.case import DashboardTest, address_of

FOLDER = os.environ.get("SKIPLANE_DASHBOARD_PICTURES")
BYTES_MAX = 100_000
WIDTH = 1200


@unittest.skipUnless(FOLDER, "SKIPLANE_DASHBOARD_PICTURES names no folder for pictures")
class Pictures(DashboardTest):
    def take(self, name, place, is_ready, height=660, scheme="light"):
        self.chrome.set_size((WIDTH, height))
        self.chrome.set_scheme(scheme)
        self.page.open(place)
        self.page.until(is_ready, f"all of {place}")
        path = os.path.join(FOLDER, f"{name}.png")
        self.chrome.save_screenshot(path)
        self.assertLessEqual(os.path.getsize(path), BYTES_MAX)

    def test_the_pages_are_taken(self):
        os.makedirs(FOLDER, exist_ok=True)
        shop.fill(self.client)
        self.broker.terminate()  # it writes its minutes when it ends
        self.database.run(shop.REPEAT)
        self.broker = self.start_dashboard()
        self.client = self.client_of(self.broker)
        self.page.address = address_of(self.broker)
        shop.go_on(self.client)
        failed = self.failed_task()
        self.take("queues", "", lambda: self.page.count(".spark svg") == len(shop.QUEUES) + 1)
        self.take("queue", "queues/mail/status", lambda: self.page.count(".plot canvas") == 4)
        self.take("tasks", "queues/mail/tasks?state=FAILED", self.select)
        self.take("task", f"tasks/{failed}", lambda: self.page.count("pre") > 1, scheme="dark")
        self.take("task_form", f"tasks/{failed}", self.open_form)
        self.take("schedules", "schedules", self.show_times, height=500)
        self.take("errors", "errors", lambda: self.page.find(".note"), height=560)

    def failed_task(self):
        self.page.open("queues/mail/tasks?state=FAILED")
        self.page.until(lambda: len(self.page.rows("Tasks")) > 1, "failed tasks")
        return self.page.rows("Tasks")[0][1]

    def open_form(self):
        if not self.page.find("dialog[open]"):
            self.page.click("Retry with other content")
        return self.page.find("dialog[open] textarea")

    def show_times(self):
        """The next planned times of one."""
        if not self.page.find("details[open]"):
            self.page.click("Show", tag="summary")
        return self.page.find(".times time")

    def select(self):
        """Some of the tasks that are listed."""
        if self.page.count("tr.selected") == 0:
            for box in self.page.find("tbody [type=checkbox]")[1:4]:
                box.click()
        return self.page.count("tr.selected") == 3


if __name__ == "__main__":
    unittest.main()
