import unittest

from planted import Planted
from rules import scripts


@unittest.skipUnless(scripts.available(), "shellcheck is not installed")
class Scripts(Planted):
    rule = scripts

    def test_an_unquoted_variable_is_caught(self):
        self.assert_caught("deploy/go", "#!/bin/bash\nrm $1\n", "deploy/go:2:")

    def test_a_clean_script_is_fine(self):
        self.assert_clean("deploy/go", '#!/bin/bash\nrm "$1"\n')

    def test_other_programs_are_left_alone(self):
        self.assert_clean("deploy/go", "#!/usr/bin/python3\nrm $1\n")


if __name__ == "__main__":
    unittest.main()
