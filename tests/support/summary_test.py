"""The last line of tests/run tells the truth about what ctest and the sanitizers wrote."""

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


def junit(*cases):
    return {"tests.xml": f"<testsuite>{''.join(cases)}</testsuite>"}


def cases(test, *texts):
    suite = f"<testsuite>{''.join(texts)}</testsuite>"
    return {f"cases/{test}.xml": f"<testsuites>{suite}</testsuites>"}


CASE_PASSED = '<testcase classname="Suite" name="Good" status="run" result="completed"/>'
CASE_FAILED = ('<testcase classname="Suite" name="Bad" status="run">'
               '<failure message="">expected 1</failure></testcase>')
CASE_SKIPPED = ('<testcase classname="Suite" name="Later" status="run" result="skipped">'
                '<skipped message="no disk"/></testcase>')


class Summary(unittest.TestCase):
    def run_on(self, *phases):
        """Each phase is a dictionary of file names and texts. Returns the output and the code."""
        with tempfile.TemporaryDirectory() as place:
            folders = []
            for number, files in enumerate(phases, 1):
                folders.append(os.path.join(place, f"phase{number}"))
                os.makedirs(os.path.join(folders[-1], "cases"))
                for name, text in files.items():
                    with open(os.path.join(folders[-1], name), "w", encoding="utf-8") as file:
                        file.write(text)
            output = io.StringIO()
            with contextlib.redirect_stdout(output):
                code = summary.main(["summary.py", *folders])
        return output.getvalue(), code

    def check(self, phases, line, code):
        output, got = self.run_on(*phases)
        self.assertEqual((output.splitlines()[-1], got), (line, code))
        return output

    def test_all_passed(self):
        self.check([junit(PASSED, PASSED)], "2 passed, 0 failed", 0)

    def test_one_failed(self):
        output = self.check([junit(PASSED, FAILED)], "1 passed, 1 failed", 1)
        self.assertIn("failed: phase1: b\n", output)

    def test_what_a_failed_test_said_last_is_told_again(self):
        said = "\n".join(f"line {number}" for number in range(1000))
        failed = FAILED.replace("</testcase>", f"<system-out>{said}</system-out></testcase>")
        passed = PASSED.replace("/>", "><system-out>all is well</system-out></testcase>")
        output = self.check([junit(passed, failed)], "1 passed, 1 failed", 1)
        self.assertIn("---- phase1: b\nline 800\n", output)
        self.assertIn("line 999\nfailed: phase1: b\n", output)
        self.assertNotIn("line 799\n", output)
        self.assertNotIn("all is well", output)

    def test_skipped_ones_are_told_but_do_not_fail(self):
        self.check([junit(PASSED, SKIPPED)], "1 passed, 0 failed, 1 skipped", 0)

    def test_cases_are_counted_in_place_of_their_test(self):
        found = cases("a", CASE_PASSED, CASE_PASSED.replace("Good", "Better"), CASE_SKIPPED)
        output = self.check([{**junit(PASSED), **found}], "2 passed, 0 failed, 1 skipped", 0)
        self.assertIn("skipped: phase1: a: Suite.Later\n", output)

    def test_a_failed_case_is_named_with_what_it_said(self):
        found = cases("b", CASE_PASSED, CASE_FAILED)
        output = self.check([{**junit(FAILED), **found}], "1 passed, 1 failed", 1)
        self.assertIn("---- phase1: b: Suite.Bad\nexpected 1\n", output)
        self.assertIn("failed: phase1: b: Suite.Bad\n", output)

    def test_a_test_that_fails_though_its_cases_pass_is_a_failure(self):
        failed = FAILED.replace("</testcase>", "<system-out>a leak</system-out></testcase>")
        output = self.check([{**junit(failed), **cases("b", CASE_PASSED)}],
                            "1 passed, 1 failed", 1)
        self.assertIn("---- phase1: b\na leak\n", output)

    def test_a_test_that_broke_off_is_one_failure(self):
        self.check([{**junit(FAILED), "cases/b.xml": "<testsuites>"}], "0 passed, 1 failed", 1)
        self.check([{**junit(FAILED), **cases("other", CASE_PASSED)}], "0 passed, 1 failed", 1)

    def test_a_missing_program_is_a_failure(self):
        self.check([junit(PASSED, MISSING)], "1 passed, 1 failed", 1)

    def test_nothing_passed_is_a_failure(self):
        self.check([junit()], "0 passed, 0 failed", 1)
        self.check([junit(SKIPPED)], "0 passed, 0 failed, 1 skipped", 1)
        self.check([junit(), junit()], "0 passed, 0 failed", 1)

    def test_phases_are_added(self):
        output = self.check([junit(PASSED, SKIPPED), junit(PASSED, PASSED, FAILED)],
                            "3 passed, 1 failed, 1 skipped", 1)
        self.assertIn("failed: phase2: b\n", output)

    def test_a_phase_without_a_matching_test_is_no_failure(self):
        self.check([junit(PASSED), junit()], "1 passed, 0 failed", 0)

    def test_a_report_is_printed_and_is_a_failure_though_all_tests_passed(self):
        output = self.check([junit(PASSED), {**junit(PASSED), "report.7": "a leak of 5 bytes"}],
                            "2 passed, 1 failed", 1)
        self.assertIn("a leak of 5 bytes\n", output)
        self.assertIn("failed: phase2: report.7\n", output)

    def test_a_report_is_printed_whole(self):
        report = "\n".join(f"line {number}" for number in range(1000))
        output = self.check([{**junit(PASSED), "report.7": report}], "1 passed, 1 failed", 1)
        self.assertIn(f"---- phase1: report.7\n{report}\nfailed: ", output)

    def test_an_empty_report_is_a_failure(self):
        self.check([{**junit(PASSED), "report.7": ""}], "1 passed, 1 failed", 1)

    def test_a_phase_that_was_not_built_is_one_failure(self):
        self.check([junit(PASSED), {"build": "the build failed"}], "1 passed, 1 failed", 1)

    def test_a_phase_that_did_not_end_is_a_failure(self):
        self.check([junit(PASSED), {}], "1 passed, 1 failed", 1)
        self.check([junit(PASSED), {"tests.xml": "<testsuite>"}], "1 passed, 1 failed", 1)


if __name__ == "__main__":
    unittest.main()
