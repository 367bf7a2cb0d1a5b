"""Runs cases of Python's unittest from the current folder: cases.py FILE.xml NAME...

FILE.xml tells of each what became of it, as GoogleTest's --gtest_output=xml does."""

import os
import sys
import time
import unittest
import xml.etree.ElementTree as xml


class Result(unittest.TextTestResult):
    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.suite = xml.Element("testsuite")
        self._case = None
        self._begin = 0

    def startTest(self, test):  # pylint: disable=invalid-name
        super().startTest(test)
        folder, _, name = test.id().rpartition(".")
        self._case = xml.SubElement(self.suite, "testcase", classname=folder, name=name)
        self._begin = time.monotonic()

    def stopTest(self, test):  # pylint: disable=invalid-name
        self._case.set("time", f"{time.monotonic() - self._begin:.3f}")
        self._case = None
        super().stopTest(test)

    def addSkip(self, test, reason):  # pylint: disable=invalid-name
        super().addSkip(test, reason)
        xml.SubElement(self._case_of(test), "skipped", message=reason)

    def addFailure(self, test, err):  # pylint: disable=invalid-name
        super().addFailure(test, err)
        self._fail(test, self.failures[-1][1])

    def addError(self, test, err):  # pylint: disable=invalid-name
        super().addError(test, err)
        self._fail(test, self.errors[-1][1])

    def addSubTest(self, test, subtest, err):  # pylint: disable=invalid-name
        super().addSubTest(test, subtest, err)
        if err is not None:
            said = self.failures if issubclass(err[0], test.failureException) else self.errors
            self._fail(test, f"{subtest}\n{said[-1][1]}")

    def addUnexpectedSuccess(self, test):  # pylint: disable=invalid-name
        super().addUnexpectedSuccess(test)
        self._fail(test, "a success that was not expected")

    def _fail(self, test, said):
        xml.SubElement(self._case_of(test), "failure").text = printable(said)

    def _case_of(self, test):
        """What sets up a class or a module is no case of its own until it fails or skips."""
        if self._case is not None:
            return self._case
        return xml.SubElement(self.suite, "testcase", classname="", name=test.id())


def printable(text):
    """XML has no place for other control characters."""
    return "".join(c if c >= " " or c in "\t\n" else repr(c)[1:-1] for c in text)


def main(arguments):
    path, *names = arguments[1:]
    sys.path[0] = os.getcwd()
    tests = unittest.defaultTestLoader.loadTestsFromNames(names)
    result = unittest.TextTestRunner(verbosity=2, resultclass=Result).run(tests)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    xml.ElementTree(result.suite).write(path, encoding="utf-8")
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv))
