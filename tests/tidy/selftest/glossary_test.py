import unittest

from planted import Planted
from rules import glossary

TABLE = """# Glossary

| word | meaning | retired |
|---|---|---|
| notifying transaction | Notifies for all. | `speaker` |
| heartbeat | Renews a session. | *beat* |
| schedule time | From when a task may run. | *run time*, moment |
"""


class Glossary(Planted):
    rule = glossary

    def found(self, files):
        return glossary.check({glossary.GLOSSARY: TABLE, **files})

    def test_a_retired_word_is_caught_in_text_comments_and_names(self):
        for path, text in (("docs/a.md", "\nThe speaker waits."), ("server/a.h", "\n// Speakers:"),
                           ("server/a.cc", "\nint last_speaker_ = 0;"),
                           ("server/a.cc", "\nclass SqlSpeaker {"),
                           ("server/a.sql", "\nAS speaker"), ("tests/a.py", "\nSPEAKER = 1"),
                           ("migrations/0001_a/10_b.sql", "\n-- A speaker.")):
            with self.subTest(text):
                self.assert_caught(path, text, f"{path}:2: `")

    def test_the_finding_says_which_word_to_use(self):
        self.assert_caught("docs/a.md", "A speaker.",
                           "`speaker` is retired: notifying transaction (docs/GLOSSARY.md)")

    def test_a_file_with_such_a_name_is_caught(self):
        self.assert_caught("server/sql_speaker.h", "", "server/sql_speaker.h:1: a name")

    def test_a_longer_word_is_another_word(self):
        self.assert_clean("docs/a.md", "Loudspeakerphones.")
        self.assert_clean("server/a.cc", "int beaten, unbeat;")

    def test_a_word_in_italics_is_refused_in_what_users_read(self):
        for path in ("docs/a.md", "proto/skiplane/v1/a.proto", "client/include/skiplane/a.h"):
            with self.subTest(path):
                self.assert_caught(path, "A worker beats.", "heartbeat")
        self.assert_clean("server/a.cc", "// A worker beats.\n")

    def test_what_a_document_quotes_of_code_is_not_refused(self):
        self.assert_caught("docs/a.md", "The column run_time.", "`run_time` is retired")
        self.assert_clean("docs/a.md", "The column `run_time`.\n\n```\nSELECT run_time\n```\n")

    def test_a_phrase_is_caught_across_a_line_and_in_names(self):
        self.assert_caught("docs/a.md", "its run\ntime comes", "docs/a.md:1: `run\ntime`")
        self.assert_caught("client/include/skiplane/a.h", "int RunTime();", "schedule time")

    def test_plain_words_are_advice(self):
        self.assert_clean("docs/a.md", "In this moment.")

    def test_what_was_released_is_not_rewritten(self):
        self.assert_clean("CHANGELOG.md", "A speaker.")


if __name__ == "__main__":
    unittest.main()
