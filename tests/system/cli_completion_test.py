"""What a shell completes."""

import os
import subprocess
import unittest

from support.cli import CliTest, program


class Completion(CliTest):
    def completed(self, *words):
        """What bash offers for the last word."""
        quoted = " ".join(f"'{word}'" for word in words)
        script = (f"source <(skiplane completion bash); COMP_WORDS=({quoted}); "
                  f"COMP_CWORD={len(words) - 1}; _skiplane; printf '%s\\n' \"${{COMPREPLY[@]}}\"")
        path = os.path.dirname(program()) + ":" + self.environment["PATH"]
        done = subprocess.run(["bash", "-c", script], capture_output=True, check=True, timeout=60,
                              env={**self.environment, "PATH": path})
        return done.stdout.decode().split()

    def test_commands_are_completed_level_by_level(self):
        self.assertEqual(self.completed("skiplane", "que"), ["queues"])
        self.assertEqual(self.completed("skiplane", "queues", "re"), ["resume"])
        self.assertEqual(self.completed("skiplane", "tasks", "ca"), ["cancel"])

    def test_options_are_completed_also_those_of_all_commands(self):
        self.assertEqual(self.completed("skiplane", "tasks", "cancel", "--key"), ["--key-prefix"])
        self.assertEqual(self.completed("skiplane", "queues", "list", "--js"), ["--json"])

    def test_queue_names_come_from_the_broker(self):
        self.client.create_queue("mail")
        self.client.create_queue("video")
        self.assertEqual(self.completed("skiplane", "queues", "show", ""), ["mail", "video"])
        self.assertEqual(self.completed("skiplane", "enqueue", "v"), ["video"])

    def test_no_queue_is_offered_where_an_option_has_its_value(self):
        self.client.create_queue("mail")
        self.assertEqual(self.completed("skiplane", "tasks", "list", "--limit", ""), [])
        self.assertEqual(self.completed("skiplane", "tasks", "list", "--timeout", "m"), [])
        self.assertEqual(self.completed("skiplane", "tasks", "list", "--state", "=", "m"), [])
        self.assertEqual(self.completed("skiplane", "tasks", "list", "--json", "m"), ["mail"])
        for words in (("-q",), ("--queue",), ("--queue", "=")):
            self.assertEqual(self.completed("skiplane", "tasks", "retry", *words, "m"), ["mail"])

    def test_the_scripts_of_other_shells_are_printed(self):
        self.assertIn("bashcompinit", self.run_cli("completion", "zsh"))
        self.assertIn("complete -c skiplane", self.run_cli("completion", "fish"))


if __name__ == "__main__":
    unittest.main()
