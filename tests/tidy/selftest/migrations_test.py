import hashlib
import unittest

from planted import Planted
from rules import migrations

TEXT = "CREATE TABLE t ();\n"
SUM = hashlib.sha256(TEXT.encode()).hexdigest()


class Migrations(Planted):
    rule = migrations

    def check(self, text, released=f"{SUM}  0001_first/10_a.sql\n"):
        files = {"migrations/released.sha256": released, "migrations/0002_new.sql": "SELECT 1;\n"}
        if text is not None:
            files["migrations/0001_first/10_a.sql"] = text
        return migrations.check(files)

    def test_one_that_is_as_it_was_and_a_new_one_are_clean(self):
        self.assertEqual(self.check(TEXT), [])

    def test_before_the_first_release_nothing_is_asked(self):
        self.assertEqual(migrations.check({"migrations/0001_first/10_a.sql": TEXT}), [])

    def test_one_that_is_edited_or_gone_is_caught(self):
        for text, what in ((TEXT + "\n", "changed"), (None, "gone")):
            with self.subTest(what):
                self.assertEqual(self.check(text), [
                    "migrations/released.sha256:1: 0001_first/10_a.sql was released and is "
                    f"{what}: write a new migration"])

    def test_a_line_that_is_none_is_caught(self):
        self.assertEqual(self.check(TEXT, "0001_first\n"),
                         ["migrations/released.sha256:1: not a line of sha256sum"])


if __name__ == "__main__":
    unittest.main()
