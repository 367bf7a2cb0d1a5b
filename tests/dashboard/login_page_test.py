"""Logging in and out, and what those see who may do little."""

import unittest

from browser.token_case import TokenTest


class LogIn(TokenTest):
    def test_one_logs_in_and_out(self):
        self.client.create_queue("mail")
        self.page.open()
        self.page.wait_for("Log in to Skiplane", "dialog[open]")
        self.assertEqual(self.page.count("main h1"), 0)
        self.page.fill("Token", "skt_wrong")
        self.page.click("Log in")
        self.page.until(lambda: self.page.text("#login-problem"), "why it is refused")
        self.log_in("root")
        self.page.wait_for_row("Queues", "mail")
        self.assertEqual(self.page.run("return document.cookie"), "")
        self.page.click("token:root", tag="a")
        self.page.wait_for("see queues, tasks and reports", "main")
        self.assertEqual(self.page.place(), "me")
        self.page.click("Log out")
        self.page.wait_for("Log in to Skiplane", "dialog[open]")
        self.page.chrome.refresh()
        self.page.wait_for("Log in to Skiplane", "dialog[open]")

    def test_one_gets_where_one_wanted_to(self):
        task = self.client.enqueue("mail", key="k-1")
        self.page.open(f"tasks/{task}")
        self.log_in("root")
        self.page.wait_for("k-1", "main")

    def test_a_log_in_that_ends_loses_nothing_of_what_was_typed(self):
        self.client.create_queue("mail")
        self.page.open("queues/mail/enqueue")
        self.log_in("operator")
        self.page.fill("Payload", "typed before")
        self.page.click("Live")  # so that it is this call which is refused
        self.write_tokens("root", "reader")
        self.wait_until_refused("operator")
        asked = []

        def ask():
            """On a slow machine the stream of changes may be refused before the call."""
            logged_in = not self.page.find("dialog[open]")
            if logged_in and self.page.click_now("Enqueue", within="//form"):
                asked.append(True)
            return asked or self.page.find("dialog[open]")

        self.page.until(ask, "the form is sent, or nobody is logged in")
        self.page.wait_for("Log in to Skiplane", "dialog[open]")
        self.log_in("root")
        if not asked:
            self.page.click("Enqueue", within="//form")
        self.page.wait_for("created", ".made")
        self.assertEqual(self.page.field("Payload").get_attribute("value"), "typed before")
        self.assertEqual(self.client.lease("mail")[0].payload, b"typed before")

    def test_a_reader_sees_no_payloads_and_no_actions(self):
        task = self.client.enqueue("mail", b"secret words", key="k-1", headers={"a": "b"})
        self.client.enqueue("other")
        self.page.open()
        self.log_in("reader")
        self.page.wait_for_row("Queues", "mail")
        self.assertEqual(len(self.page.rows("Queues")), 1)
        self.assertFalse(self.page.has("button", "New queue"))
        self.page.open(f"tasks/{task}")
        self.page.wait_for("You may not see payloads")
        self.page.wait_for("read-only", ".actions")
        self.assertNotIn("secret words", self.page.text())
        self.assertFalse(self.page.has("button", "Cancel"))
        self.page.open("queues/mail/settings")
        self.page.wait_for("read-only: you may not change this queue.")
        self.assertFalse(self.page.field("Attempts").is_enabled())
        for hidden in ("Pause", "Save"):
            self.assertFalse(self.page.has("button", hidden))
        self.assertFalse(self.page.has("a", "Enqueue"))
        self.page.open("queues/mail/tasks")
        self.page.wait_for_row("Tasks", "k-1")
        self.assertEqual(self.page.count("main table [type=checkbox]"), 0)
        for place in ("workers", "brokers", "audit"):
            self.page.open(place)
            self.page.wait_for("ACCESS_DENIED", ".failure")

    def test_rights_that_are_withdrawn_are_told_over_what_was_seen(self):
        self.client.create_queue("mail")
        self.page.open("queues/mail")
        self.log_in("reader")
        self.page.wait_for("Ready", "main")
        self.files.write("rules", "allow token:root to all on *\n")
        self.page.wait_for("ACCESS_DENIED", ".failure")
        self.page.wait_for("Ready", "main")

    def test_an_operator_may_change_tasks_but_not_queues(self):
        task = self.client.enqueue("mail", b"words")
        self.page.open(f"tasks/{task}")
        self.log_in("operator")
        self.page.wait_for("words", "pre")
        self.page.click("Cancel")
        self.page.confirm("Cancel")
        self.page.until(lambda: self.client.state(task) == "CANCELLED", "it is cancelled")
        self.page.open("queues/mail")
        self.page.wait_for("Enqueue", ".tabs")
        self.assertFalse(self.page.has("button", "Pause"))


if __name__ == "__main__":
    unittest.main()
