import unittest

from planted import Planted
from rules import paths

FILES = {"server/pg/pool.h": "", "server/broker/lease/lane.cc": "", "docs/B.md": "# B\n\n## A b!\n"}


class Paths(Planted):
    rule = paths

    def found(self, files):
        return paths.check({**FILES, **files})

    def test_paths_that_exist_are_fine(self):
        self.assert_clean("docs/a.md", "`server/pg/pool.h`, `pg/pool.h`, `pg/pool`, `broker/lease`,"
                                       " `server/broker/lease/`, [B](B.md#a-b), [c](../docs)")

    def test_a_file_that_is_gone_is_caught(self):
        for name in ("server/pg/gone.h", "pg/gone", "tests/gone_test.py", "broker/gone/lane.cc"):
            with self.subTest(name):
                self.assert_caught("docs/a.md", f"\nSee `{name}`.",
                                   f"docs/a.md:2: `{name}` does not exist")

    def test_a_program_with_arguments_is_looked_for(self):
        self.assert_caught("README.md", "`tests/gone --all`", "`tests/gone` does not exist")

    def test_a_link_that_leads_nowhere_is_caught(self):
        self.assert_caught("docs/a.md", "[x](C.md)", "the link C.md leads nowhere")
        self.assert_caught("docs/a.md", "[x](B.md#c)", "docs/B.md has no heading for #c")
        self.assert_caught("docs/a.md", "# A\n[x](#b)", "docs/a.md has no heading for #b")

    def test_what_is_no_path_of_ours_is_left_alone(self):
        self.assert_clean("docs/a.md", "`grpc/grpc#20418`, `build/gone`, `application/json`, "
                                       "[x](https://a.b/c), `tests/NAME*`, `server/<room>/x.h`")
        self.assert_clean("docs/a.md", "```\nserver/gone.h\n```\n")

    def test_the_changelog_tells_of_former_times(self):
        self.assert_clean("CHANGELOG.md", "`server/pg/gone.h`")


if __name__ == "__main__":
    unittest.main()
