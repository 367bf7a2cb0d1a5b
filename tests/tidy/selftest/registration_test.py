import unittest

from planted import Planted
from rules import registration

LIST = {"tests/base/CMakeLists.txt": "skiplane_test(NAME base_test SOURCES "
        "a_test.cc b_pgtest.cc below/c_test.cc)"}
METHOD = "class A(TestCase):\n    def test_a(self):\n"


class Registration(Planted):
    rule = registration

    def found(self, files):
        return super().found({**LIST, **files})

    def test_a_file_that_no_program_has_is_caught(self):
        self.assert_caught("tests/base/c_test.cc", "", "not in tests/base/CMakeLists.txt")
        self.assert_caught("tests/new/c_test.cc", "", "not in any CMakeLists.txt")

    def test_a_file_of_a_program_is_fine(self):
        self.assert_clean("tests/base/a_test.cc", "")
        self.assert_clean("tests/base/b_pgtest.cc", "")
        self.assert_clean("tests/base/below/c_test.cc", "")
        self.assert_clean("tests/base/helper.cc", "")

    def test_a_file_named_like_one_of_another_folder_is_caught(self):
        self.assert_caught("tests/base/below/a_test.cc", "", "not in tests/base/CMakeLists.txt")

    def test_all_files_of_system_tests_are_run(self):
        self.assert_clean("tests/system/new_test.py", METHOD)

    def test_a_method_that_is_not_found_is_caught(self):
        self.assert_caught("tests/system/new_test.py", METHOD.replace("    def", "        def"),
                           "tests/system/new_test.py:2: a test is a plain method")
        self.assert_caught("tests/system/new_test.py", METHOD.replace("def", "async def"),
                           "nobody runs this")


if __name__ == "__main__":
    unittest.main()
