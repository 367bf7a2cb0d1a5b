"""The last line of tests/run tells the truth about what ctest wrote."""

import contextlib
import io
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import summary  # noqa: E402

PASSED = '<testcase name="a" status="run"/>'
FAILED = '<testcase name="b" status="fail"><failure message=""/></testcase>'
SKIPPED = ('<testcase name="c" status="notrun">'
           '<skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/></testcase>')
MISSING = ('<testcase name="d" status="notrun">'
           '<skipped message="Unable to find executable: d"/></testcase>')


class Summary(unittest.TestCase):
    def check(self, cases, line, code):
        with tempfile.NamedTemporaryFile("w", suffix=".xml") as file:
            file.write(f"<testsuite>{''.join(cases)}</testsuite>")
            file.flush()
            output = io.StringIO()
            with contextlib.redirect_stdout(output):
                got = summary.main(["summary.py", file.name])
        self.assertEqual((output.getvalue().splitlines()[-1], got), (line, code))

    def test_all_passed(self):
        self.check([PASSED, PASSED], "2 passed, 0 failed", 0)

    def test_one_failed(self):
        self.check([PASSED, FAILED], "1 passed, 1 failed", 1)

    def test_skipped_ones_are_told_but_do_not_fail(self):
        self.check([PASSED, SKIPPED], "1 passed, 0 failed, 1 skipped", 0)

    def test_a_missing_program_is_a_failure(self):
        self.check([PASSED, MISSING], "1 passed, 1 failed", 1)

    def test_nothing_passed_is_a_failure(self):
        self.check([], "0 passed, 0 failed", 1)
        self.check([SKIPPED], "0 passed, 0 failed, 1 skipped", 1)


if __name__ == "__main__":
    unittest.main()
