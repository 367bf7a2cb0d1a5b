"""Pages that keep themselves up to date, and what surrounds all of them."""

import unittest

from browser.case import DashboardTest
from browser.place import NARROW
from support.broker import listen_where_nobody_is_put

WATCHING = 'skiplane_streams{kind="watch"}'
# Notes how many calls of a method were under way at most, and how many there were. Holds them back
# while calls.gate is a promise.
COUNT = """
    window.calls = {now: 0, most: 0, all: 0, gate: null};
    const known = window.fetch;
    window.fetch = async (...request) => {
      if (!String(request[0]).endsWith("/METHOD")) return known(...request);
      calls.all += 1;
      calls.now += 1;
      calls.most = Math.max(calls.most, calls.now);
      await calls.gate;
      try { return await known(...request); } finally { calls.now -= 1; }
    };"""


class Live(DashboardTest):
    def calls(self, name="all"):
        return self.page.run(f"return calls.{name}")

    def count(self, method):
        self.page.run(COUNT.replace("METHOD", method))

    def watching(self):
        """How many streams of changes the broker serves."""
        return self.broker.metrics()[WATCHING]

    def test_a_page_asks_again_and_never_twice_at_once(self):
        self.page.open("workers")
        self.count("ListWorkers")
        self.page.until(lambda: self.calls() >= 3, "three more calls")
        self.page.click("Live")
        self.page.until(lambda: self.calls("now") == 0, "none is under way")
        self.page.run("calls.gate = new Promise((open) => { calls.open = open; })")
        before = self.calls()
        for _ in range(3):
            self.page.click("Refresh")
        self.assertEqual((self.calls("now"), self.calls()), (1, before + 1))
        self.page.run("calls.open()")
        self.page.until(lambda: self.calls() == before + 2, "one call for all that were asked for")
        self.assertEqual(self.calls("most"), 1)

    def test_a_page_that_is_stopped_asks_only_when_it_is_told_to(self):
        self.client.create_queue("mail")
        self.page.open()
        self.page.wait_for_row("Queues", "mail")
        self.page.click("Live")
        self.page.until(lambda: self.watching() == 0, "nobody watches")
        self.count("ListQueueSummaries")
        self.client.enqueue("mail")
        self.page.click("Refresh")
        self.page.until(lambda: self.page.row("Queues", "mail")[1] == "1", "the new task")
        self.assertEqual((self.calls(), self.watching()), (1, 0))
        self.page.click("Live")
        self.client.enqueue("mail")
        self.page.until(lambda: self.page.row("Queues", "mail")[1] == "2", "the next one")

    def test_all_queues_are_told_and_nobody_asks(self):
        self.page.open()
        self.page.wait_for("There are no queues")
        self.count("ListQueueSummaries")
        self.client.create_queue("mail")
        self.client.enqueue("mail")
        self.page.until(lambda: (self.page.row("Queues", "mail") or ["", ""])[1] == "1", "a task")
        self.client.pause("mail", reason="deploy")
        self.page.wait_for("leases paused", "[aria-label=Queues]")
        self.assertEqual((self.calls(), self.watching()), (0, 1))

    def test_a_page_of_one_queue_asks_when_the_queue_changed(self):
        self.client.create_queue("mail")
        self.page.open("queues/mail/status")
        self.page.wait_for("How long attempts waited", "main")
        self.page.until(lambda: self.watching() == 1, "it watches")
        self.count("GetQueue")
        self.client.pause("mail", reason="deploy")
        self.page.wait_for("deploy", ".paused")
        asked = self.calls()
        self.client.create_queue("other")
        self.database.pass_time(5)
        self.assertEqual(self.calls(), asked)

    def test_a_broker_without_a_stream_of_changes_is_asked(self):
        self.client.create_queue("mail")
        self.page.open()
        self.page.wait_for_row("Queues", "mail")
        self.page.click("Live")
        self.page.until(lambda: self.watching() == 0, "nobody watches")
        self.page.run("""
            const known = window.fetch;
            window.fetch = async (...request) => String(request[0]).endsWith("/Watch")
              ? new Response("{}", {status: 404}) : known(...request);""")
        self.page.click("Live")
        self.client.create_queue("new")
        self.page.wait_for_row("Queues", "new")
        self.client.create_queue("newer")
        self.page.wait_for_row("Queues", "newer")
        self.assertEqual(self.watching(), 0)

    def test_a_page_that_nobody_sees_asks_nothing(self):
        self.page.open("workers")
        self.count("ListWorkers")
        self.page.until(lambda: self.calls() >= 1, "a call")
        self.hide()
        before = self.calls()
        self.database.pass_time(5)  # enough for two calls
        self.assertLessEqual(self.calls(), before + 1)  # one may have been about to go
        self.show()
        self.page.until(lambda: self.calls() > before + 1, "a call")

    def test_a_page_that_nobody_sees_watches_nothing(self):
        self.client.create_queue("mail")
        self.page.open()
        self.page.wait_for_row("Queues", "mail")
        self.hide()
        self.page.until(lambda: self.watching() == 0, "nobody watches")
        self.client.create_queue("unseen")
        self.assertIsNone(self.page.row("Queues", "unseen"))
        self.show()
        self.page.wait_for_row("Queues", "unseen")

    def hide(self):
        self.page.run("Object.defineProperty(document, 'hidden',"
                      " {configurable: true, get: () => true});"
                      "document.dispatchEvent(new Event('visibilitychange'))")

    def show(self):
        self.page.run("delete document.hidden;"
                      "document.dispatchEvent(new Event('visibilitychange'))")

    def test_a_broker_that_is_away_is_told_until_it_is_back(self):
        self.client.create_queue("mail")
        place = listen_where_nobody_is_put()
        address = "127.0.0.1:{}".format(place.getsockname()[1])
        place.close()
        broker = self.start_dashboard(http=address)
        self.page.address = f"http://{address}/dashboard/"
        self.page.open()
        self.page.wait_for_row("Queues", "mail")
        broker.terminate()
        self.page.wait_for("The broker does not answer.", ".away")
        self.assertEqual(self.page.row("Queues", "mail")[0], "mail")  # what was seen stays
        self.client.enqueue("mail")
        self.start_dashboard(http=address)
        # The page may have tried by itself before.
        self.page.until(lambda: not self.page.find(".away") or self.page.click_now("Try now"),
                        "the page is told to try, or has")
        self.page.until(lambda: not self.page.find(".away"), "the banner is gone")
        self.page.until(lambda: self.page.row("Queues", "mail")[1] == "1", "the new task")

    def test_a_change_whose_answer_is_lost_is_made_once(self):
        self.client.create_queue("mail")
        self.page.open("queues/mail/enqueue")
        self.page.wait_for("Payload")
        self.page.run("""
            const known = window.fetch;
            window.fetch = async (...request) => {
              const answer = await known(...request);
              if (!String(request[0]).endsWith("Enqueue") || window.lost) return answer;
              window.lost = true;
              throw new TypeError("the connection broke");
            };""")
        self.page.click("Enqueue", within="//form")
        self.page.wait_for("created", ".made")
        self.assertTrue(self.page.run("return window.lost"))
        self.assertEqual(self.client.queue("mail").counts.ready_count, 1)

    def test_one_goes_about_by_keyboard_and_back(self):
        self.client.create_queue("mail")
        self.page.open()
        self.page.wait_for_row("Queues", "mail")
        self.page.press_enter_at("tbody a")
        self.page.wait_for("How long attempts waited", "main")
        self.assertEqual(self.page.run("return document.activeElement.innerText"), "mail")
        self.assertEqual(self.page.chrome.title, "Status · mail · Skiplane")
        self.page.chrome.back()
        self.page.wait_for_row("Queues", "mail")
        self.assertEqual(self.page.run("return document.activeElement.innerText"), "Queues")

    def test_an_address_that_leads_nowhere_is_told(self):
        self.page.open("nothing/here")
        self.page.wait_for("No page has this address.")

    def test_a_narrow_page_does_not_scroll_sideways(self):
        self.client.create_queue("mail")
        self.client.enqueue("mail", key="k" * 200)
        self.page.chrome.set_size(NARROW)
        for place in ("", "queues/mail/status", "queues/mail/tasks", "queues/mail/settings",
                      "queues/mail/enqueue", "schedules", "errors", "audit", "brokers", "me"):
            with self.subTest(place):
                self.page.open(place)
                self.page.wait_until_gone("Loading", "main")
                self.assertEqual(self.page.run("return document.documentElement.scrollWidth"),
                                 NARROW[0])


if __name__ == "__main__":
    unittest.main()
