"""The programs, as they were linked, have what cmake/hardening.cmake asks for."""

import json
import os
import re
import subprocess
import tempfile
import unittest

BUILD = os.environ["SKIPLANE_BUILD_DIR"]
PROGRAMS = ("server/skiplaned", "client/cli/skiplane", "client/examples/demo/skiplane-demo")
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# What is built from our files, and from what protoc makes of them.
PRODUCT = re.compile(r"(server|client|proto)/")
SOFT = ("-no-pie", "-fno-pie", "-fno-stack-protector", "-Wl,-z,norelro,-z,lazy,-z,execstack")


def readelf(*arguments):
    return subprocess.run(["readelf", "-W", *arguments], check=True, capture_output=True,
                          text=True).stdout


def imports(program):
    """The functions that it takes from shared libraries."""
    lines = readelf("--dyn-syms", program).splitlines()
    return {line.split()[7].partition("@")[0] for line in lines if " UND " in line and
            len(line.split()) > 7}


def weaknesses(program):
    """What is missing, by the name of the flag that brings it."""
    header, segments, dynamic = (readelf(flag, program) for flag in ("-h", "-l", "-d"))
    stack = re.search(r"GNU_STACK(?:\s+0x\w+){5} ([RWE ]{3}) ", segments)
    missing = {
        "pie": re.search(r"Type:\s+DYN ", header) and re.search(r"FLAGS_1\).*\bPIE\b", dynamic),
        "relro": "GNU_RELRO" in segments,
        "now": re.search(r"FLAGS\).*\bBIND_NOW\b|FLAGS_1\).*\bNOW\b", dynamic),
        "noexecstack": stack and "E" not in stack.group(1),
        "stack-protector": "__stack_chk_fail" in imports(program),
    }
    return sorted(name for name, found in missing.items() if not found)


def commands():
    """How each object of the product is compiled, by its source."""
    with open(os.path.join(BUILD, "compile_commands.json"), encoding="utf-8") as file:
        return {entry["file"]: entry["command"] for entry in json.load(file)
                if PRODUCT.match(place(entry["file"]))}


def place(path):
    """Below the folder of the build, else below that of the sources."""
    return os.path.relpath(path, BUILD if path.startswith(BUILD + "/") else ROOT)


def is_optimized(command):
    levels = re.findall(r" -O(\S*)", command)
    return bool(levels) and levels[-1] != "0"


def compiles(flag):
    compiler = [os.environ["CXX"], "-Werror", flag, "-x", "c++", "-c", "-o", os.devnull, "-"]
    return subprocess.run(compiler, input="int main() {}", text=True, check=False,
                          stderr=subprocess.DEVNULL).returncode == 0


class Hardening(unittest.TestCase):
    def test_each_program_has_it(self):
        for name in PROGRAMS:
            with self.subTest(name):
                self.assertEqual(weaknesses(os.path.join(BUILD, name)), [])

    def test_a_program_without_it_is_found(self):
        with tempfile.TemporaryDirectory() as folder:
            program = os.path.join(folder, "soft")
            subprocess.run([os.environ["CXX"], "-O0", *SOFT, "-x", "c++", "-o", program, "-"],
                           input="int main() { char text[64]; return text[63]; }", text=True,
                           check=True)
            self.assertEqual(weaknesses(program),
                             ["noexecstack", "now", "pie", "relro", "stack-protector"])

    def test_each_file_is_compiled_with_what_leaves_no_trace_in_a_program(self):
        flags = [flag for flag in ("-fstack-protector-strong", "-fstack-clash-protection",
                                   "-fcf-protection", "-mbranch-protection=standard")
                 if compiles(flag)]
        self.assertIn("-fstack-protector-strong", flags)
        found = commands()
        self.assertGreater(len(found), 100)
        for source, command in found.items():
            self.assertEqual([flag for flag in flags if flag not in command.split()], [], source)

    def test_optimized_code_checks_buffers(self):
        if not all(map(is_optimized, commands().values())):
            self.skipTest("this build is not optimized")
        checked = {name for name in imports(os.path.join(BUILD, PROGRAMS[0]))
                   if name.startswith("__") and name.endswith("_chk")}
        self.assertTrue(checked)


if __name__ == "__main__":
    unittest.main()
