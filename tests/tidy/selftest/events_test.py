import unittest

from planted import Planted
from rules import events

DOCUMENT = ("# Operations\n\n## Logs\n\n| event | meaning |\n|---|---|\n| `a`, `b` | x |\n\n"
            "## More\n")
BOTH = 'base::Log(base::LogLevel::kInfo, is_on ? "a" : "b", {{"c", "d"}});\n'


class Events(Planted):
    rule = events

    def check(self, document, source):
        return events.check({"docs/OPERATIONS.md": document, "server/base/a.cc": source})

    def test_events_that_are_logged_and_explained_are_clean(self):
        self.assertEqual(self.check(DOCUMENT, BOTH), [])

    def test_an_event_that_is_not_explained_is_caught(self):
        for source in ('Log(LogLevel::kInfo,\n    "e");\n',
                       'static constinit base::SampledEvent event("e");\n'):
            with self.subTest(source):
                self.assertIn("server/base/a.cc:2: event `e` is not in docs/OPERATIONS.md",
                              self.check(DOCUMENT, BOTH + source))

    def test_an_event_that_nobody_logs_is_caught(self):
        source = BOTH.replace('"b"', '"a"')
        self.assertEqual(self.check(DOCUMENT, source),
                         ["docs/OPERATIONS.md:7: event `b` is logged nowhere"])

    def test_keys_and_other_sections_are_no_events(self):
        self.assertEqual(self.check(DOCUMENT + "| `z` | x |\n", BOTH), [])


if __name__ == "__main__":
    unittest.main()
