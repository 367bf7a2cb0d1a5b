"""How tables are sorted, which columns they have, and where they are coloured."""

import unittest

from support.cli import CliTest
from support.terminal import Terminal

LISTS = (("queues", "list"), ("queues", "list", "--no-counts"), ("tasks", "list", "mail"),
         ("operations", "list"), ("errors", "list"), ("schedules", "list"), ("stats", "mail"),
         ("stats", "mail", "--minutes"), ("workers",), ("audit",))


class Tables(CliTest):
    def setUp(self):
        super().setUp()
        for queue, count in (("mail", 2), ("big", 10), ("sms", 9)):
            self.client.create_queue(queue)
            self.client.enqueue_all(queue, [{}] * count)

    def test_rows_are_sorted_by_numbers(self):
        for order, queues in (("ready", ["mail", "sms", "big"]),
                              ("ready:desc", ["big", "sms", "mail"]),
                              ("queue:desc", ["sms", "mail", "big"])):
            said = self.run_cli("queues", "list", "--sort", order).splitlines()[1:]
            self.assertEqual([line.split()[0] for line in said], queues)

    def test_what_is_left_out_is_not_sorted_and_that_is_told(self):
        said = self.run_cli("queues", "list", "--sort", "ready:desc", "--limit", "2")
        self.assertEqual([line.split()[0] for line in said.splitlines()[1:]], ["big", "mail"])
        self.assertIn("--limit 0 shows all, and sorts all", self.errors)

    def test_columns_are_chosen(self):
        said = self.run_cli("queues", "list", "--columns", "ready,queue", "--sort", "ready")
        self.assertEqual([line.split() for line in said.splitlines()],
                         [["READY", "QUEUE"], ["2", "mail"], ["9", "sms"], ["10", "big"]])

    def test_each_list_names_its_columns_when_one_is_wrong(self):
        for command in LISTS:
            for option in ("--sort", "--columns"):
                self.run_cli(*command, option, "nonsense", code=2)
                self.assertIn("'nonsense'. There are: ", self.errors)
                first = self.errors.split("There are: ")[1].split(",")[0]
                self.run_cli(*command, option, first)

    def test_documents_are_not_sorted(self):
        for option in ("--sort", "--columns"):
            self.run_cli("queues", "list", "--json", option, "ready", code=2)
            self.assertIn("for tables", self.errors)

    def test_pipes_have_no_colours_unless_they_are_asked_for(self):
        task_id = self.client.enqueue("mail", priority=-9)
        [task] = self.client.lease("mail")
        self.assertEqual(task.task_id, task_id)
        self.client.nack(task, "FAIL")
        command = ("tasks", "list", "mail", "--state", "failed")
        self.assertNotIn("\x1b", self.run_cli(*command))
        self.assertNotIn("\x1b", self.run_cli(*command, "--color", "auto"))
        self.assertIn("\x1b[31mfailed\x1b[0m", self.run_cli(*command, "--color", "always"))
        self.assertNotIn("\x1b", self.run_cli(*command, "--json", "--color", "always"))
        self.run_cli(*command, "--color", "sometimes", code=2)

    def test_a_terminal_has_colours_unless_they_are_refused(self):
        self.client.nack(self.client.lease("mail")[0], "FAIL")
        command = ["tasks", "list", "mail", "--state", "failed"]
        for more, variables, is_colored in (([], {}, True), ([], {"NO_COLOR": "1"}, False),
                                            ([], {"TERM": "dumb"}, False),
                                            (["--color", "never"], {}, False)):
            environment = {**self.environment, "TERM": "xterm", **variables}
            if "NO_COLOR" not in variables:
                environment.pop("NO_COLOR", None)
            terminal = Terminal([*command, *more], environment)
            self.addCleanup(terminal.end)
            terminal.wait_for(b"\x1b[31mfailed\x1b[0m" if is_colored else b" failed ")


if __name__ == "__main__":
    unittest.main()
