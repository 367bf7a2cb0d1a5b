import unittest

from planted import Planted
from rules import documents


class Documents(Planted):
    rule = documents

    def test_a_header_without_a_word_is_caught(self):
        self.assert_caught("server/base/a.h", "#pragma once\n", "what it is for")

    def test_a_header_without_its_guard_is_caught(self):
        self.assert_caught("server/base/a.h", "// An a.\n", "pragma once")

    def test_an_essay_before_the_code_is_caught(self):
        self.assert_caught("server/base/a.h", "// x\n" * 40 + "#pragma once\n", "a document")

    def test_a_header_that_speaks_is_fine(self):
        self.assert_clean("server/base/a.h", "// An a.\n#pragma once\n")

    def test_a_document_has_exactly_one_title(self):
        self.assert_caught("docs/a.md", "no title\n", "0 titles")
        self.assert_caught("docs/a.md", "# One\n# Two\n", "2 titles")
        self.assert_clean("docs/a.md", "# One\n\n## Part\n```sh\n# a comment\n```\n")


if __name__ == "__main__":
    unittest.main()
