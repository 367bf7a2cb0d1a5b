import unittest

from planted import Planted
from rules import cpp, sizes


def function(lines):
    return "int F(int x) {\n" + "  x += 1;\n" * (lines - 2) + "}\n"


class Sizes(Planted):
    rule = sizes

    def test_a_long_file_is_caught(self):
        self.assert_clean("server/base/a.cc", "\n" * 300)
        self.assert_caught("server/base/a.cc", "\n" * 301, "301 lines, at most 300")

    def test_headers_are_shorter_and_tests_may_be_longer(self):
        self.assert_caught("server/base/a.h", "\n" * 151, "at most 150")
        self.assert_clean("tests/base/a_test.cc", "\n" * 400)
        self.assert_caught("tests/base/a_test.cc", "\n" * 401, "at most 400")

    def test_a_proto_file_that_declares_a_service_may_be_longer(self):
        service = "service Broker {\n}\n"
        self.assert_clean("proto/skiplane/v1/a.proto", service + "\n" * 798)
        self.assert_caught("proto/skiplane/v1/a.proto", service + "\n" * 999, "at most 1000")
        nouns = "// A service {\nmessage Task {}\n"
        self.assert_caught("proto/skiplane/v1/a.proto", nouns + "\n" * 299, "at most 300")
        self.assert_clean("proto/google/rpc/a.proto", "\n" * 900)

    def test_a_long_line_is_caught_by_characters_not_bytes(self):
        self.assert_clean("server/base/a.cc", "// " + "…" * 97)
        self.assert_caught("server/base/a.cc", "\n// " + "…" * 98, ":2: 101 columns")

    def test_the_pages_of_the_dashboard_are_held_to_it_but_not_what_is_built_of_them(self):
        for name in ("a.ts", "a.tsx", "a.css"):
            self.assert_caught(f"client/dashboard/src/{name}", "x" * 101, "101 columns")
        self.assert_clean("client/dashboard/dist/dashboard.css", "x" * 101)

    def test_a_script_is_known_by_its_first_line(self):
        self.assert_caught("deploy/go", "#!/bin/bash\n" + "x" * 101, "101 columns")

    def test_a_long_function_is_caught(self):
        self.assert_clean("server/base/a.cc", function(50))
        self.assert_caught("server/base/a.cc", "\n" + function(51), ":2: function of 51 lines")

    def test_a_long_method_and_constructor_are_caught(self):
        body = "    x();\n" * 60
        self.assert_caught("server/base/a.cc", f"A::A(int x)\n    : x_(x) {{\n{body}}}\n",
                           "63 lines")
        self.assert_caught("server/base/a.h", f"class A {{\n  void F() const {{\n{body}  }}\n}};\n",
                           ":2: function of 62 lines")

    def test_a_long_class_or_namespace_is_no_function(self):
        methods = "  int x();\n" * 90
        self.assert_clean("server/base/a.h", f"class A : public B<int(int)> {{\n{methods}}};")
        self.assert_clean("server/base/a.cc", "namespace a {\n" + function(40) + function(40) + "}")

    def test_braces_in_text_are_not_counted(self):
        text = 'void F() {\n  f("}{{", \'{\');  // {\n  g(R"sql(\n{\n)sql");\n}\n'
        self.assertEqual(list(cpp.functions(text)), [(1, 6)])

    def test_a_lambda_belongs_to_its_function(self):
        text = "void F() {\n  g([](int x) {\n    h(x);\n  });\n}\nvoid G() {\n}\n"
        self.assertEqual(list(cpp.functions(text)), [(1, 5), (6, 7)])

    def test_a_long_python_function_is_caught(self):
        self.assert_caught("tests/a.py", "def f():\n" + "    g()\n" * 50, "function of 51 lines")

    def test_what_came_with_its_own_licence_is_exempt(self):
        self.assert_clean("proto/google/rpc/a.h", "x" * 200)


if __name__ == "__main__":
    unittest.main()
