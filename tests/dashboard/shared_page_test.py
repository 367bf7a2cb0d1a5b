"""Tabs of one browser: what several of them show is asked for once."""

import unittest

from browser.case import DashboardTest

# Notes how many calls a tab made, and how often it had to wait for its turn to make one. Holds its
# calls back while calls.gate is a promise.
WATCH = """
    window.calls = {now: 0, all: 0, turns: 0, gate: null};
    const known = window.fetch;
    window.fetch = async (...request) => {
      if (!String(request[0]).endsWith("ListQueueSummaries")) return known(...request);
      calls.all += 1;
      calls.now += 1;
      await calls.gate;
      try { return await known(...request); } finally { calls.now -= 1; }
    };
    const request = navigator.locks.request.bind(navigator.locks);
    navigator.locks.request = (name, ...rest) => {
      if (name.includes("ListQueueSummaries")) calls.turns += 1;
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

    def open_another(self):
        """In a window of its own: both are seen."""
        self.chrome.switch_to.new_window("window")
        self.windows.append(self.chrome.current_window_handle)
        self.page.open()
        self.page.wait_for_row("Queues", "mail")

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

    def test_one_tab_asks_for_both(self):
        self.open_another()
        self.both(WATCH)
        self.page.until(lambda: sum(self.both("return calls.turns - calls.all")) >= 3,
                        "three answers that came from the other tab")
        self.client.create_queue("new")
        for window in self.windows:
            self.chrome.switch_to.window(window)
            self.page.wait_for_row("Queues", "new")

    def test_a_tab_that_goes_while_it_asks_leaves_no_other_waiting(self):
        self.open_another()
        self.page.run(WATCH + "calls.gate = new Promise(() => {})")
        self.page.until(lambda: self.page.run("return calls.now") == 1, "it asks")
        self.client.create_queue("new")
        self.chrome.close()
        self.windows.pop()
        self.chrome.switch_to.window(self.windows[0])
        self.page.wait_for_row("Queues", "new")

    def test_a_change_is_seen_at_once_where_it_was_made(self):
        self.open_another()
        self.page.open("queues/mail/settings")
        self.page.click("Live")  # the list is asked for once, when it is opened
        self.page.run("""
            window.heard = 0;
            new BroadcastChannel("skiplane").onmessage = ({data}) => {
              heard += data.question.includes("ListQueueSummaries");
            };""")
        self.page.until(lambda: self.page.run("return heard"), "an answer from before the change")
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
