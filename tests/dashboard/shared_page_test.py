"""Tabs of one browser: what several of them show is asked for once."""

import unittest

from browser.case import DashboardTest

WATCHING = 'skiplane_streams{kind="watch"}'
# Notes how many calls of a method a tab made, and how often it had to wait for its turn to make
# one. Holds its calls back while calls.gate is a promise.
COUNT = """
    window.calls = {now: 0, all: 0, turns: 0, gate: null};
    const known = window.fetch;
    window.fetch = async (...request) => {
      if (!String(request[0]).endsWith("ListWorkers")) return known(...request);
      calls.all += 1;
      calls.now += 1;
      await calls.gate;
      try { return await known(...request); } finally { calls.now -= 1; }
    };
    const request = navigator.locks.request.bind(navigator.locks);
    navigator.locks.request = (name, ...rest) => {
      if (name.includes("ListWorkers")) calls.turns += 1;
      return request(name, ...rest);
    };"""


class Shared(DashboardTest):
    def setUp(self):
        super().setUp()
        self.client.create_queue("mail")
        self.windows = [self.chrome.current_window_handle]
        self.page.open()
        self.page.wait_for_row("Queues", "mail")
        self.addCleanup(self.close_others)

    def open_another(self, place=""):
        """In a window of its own: both are seen."""
        self.chrome.switch_to.new_window("window")
        self.windows.append(self.chrome.current_window_handle)
        self.page.open(place)
        self.page.wait_until_gone("Loading", "main")

    def close_others(self):
        for window in self.windows[1:]:
            self.chrome.switch_to.window(window)
            self.chrome.close()
        self.chrome.switch_to.window(self.windows[0])

    def both(self, script):
        """What a script answers in each window."""
        found = []
        for window in self.windows:
            self.chrome.switch_to.window(window)
            found.append(self.page.run(script))
        return found

    def watching(self):
        """How many streams of changes the broker serves."""
        return self.broker.metrics()[WATCHING]

    def close_this(self):
        self.windows.remove(self.chrome.current_window_handle)
        self.chrome.close()
        self.chrome.switch_to.window(self.windows[0])

    def assert_all_see(self, queue):
        for window in self.windows:
            self.chrome.switch_to.window(window)
            self.page.wait_for_row("Queues", queue)

    def test_one_tab_asks_for_both(self):
        self.page.open("workers")
        self.open_another("workers")
        self.both(COUNT)
        self.page.until(lambda: sum(self.both("return calls.turns - calls.all")) >= 3,
                        "three answers that came from the other tab")

    def test_a_tab_that_goes_while_it_asks_leaves_no_other_waiting(self):
        self.page.open("workers")
        self.open_another("workers")
        self.both(COUNT)
        self.page.run("calls.gate = new Promise(() => {})")
        self.page.until(lambda: self.page.run("return calls.now") == 1, "it asks")
        self.close_this()
        before = self.page.run("return calls.all")
        self.page.until(lambda: self.page.run("return calls.all") > before, "the other one asks")

    def test_one_stream_tells_all_tabs(self):
        for _ in range(2):
            self.open_another()
            self.page.wait_for_row("Queues", "mail")
        self.client.create_queue("new")
        self.assert_all_see("new")
        self.assertEqual(self.watching(), 1)

    def test_when_the_tab_that_reads_closes_another_one_reads(self):
        first = self.windows[0]
        self.open_another()
        self.open_another()
        self.assert_all_see("mail")
        self.chrome.switch_to.window(first)
        self.close_this()
        self.client.create_queue("new")
        self.assert_all_see("new")
        self.page.until(lambda: self.watching() == 1, "one reads")

    def test_a_change_is_seen_soon_where_it_was_made(self):
        self.open_another()
        self.page.open("queues/mail/settings")
        self.page.click("Pause")
        self.page.confirm("Pause")
        self.page.click("Queues", tag="a")
        self.page.wait_for("leases paused", "[aria-label=Queues]")

    def test_a_broker_that_is_away_is_told_in_each_tab(self):
        self.open_another()
        self.broker.terminate()
        for window in self.windows:
            self.chrome.switch_to.window(window)
            self.page.wait_for("The broker does not answer.", ".away")


if __name__ == "__main__":
    unittest.main()
