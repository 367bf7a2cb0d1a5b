import unittest

from planted import Planted
from rules import together

LIST = 'set(alone\n  "server/http/(pages|boost)"\n  "server/upkeep/")\n'


def unit(name, namespace="namespace {\n%s}  // namespace\n"):
    return namespace % f"constexpr absl::string_view {name} = \"x\";\n"


class Together(Planted):
    rule = together

    def check(self, **files):
        paths = {path.replace("__", "/") + ".cc": text for path, text in files.items()}
        return together.check({together.LIST: LIST, **paths})

    def test_two_constants_of_one_name_are_caught(self):
        for second in ("server__pg__b", "client__src__b__b"):
            first = second.replace("b__b", "a__a").replace("__b", "__a")
            with self.subTest(second):
                problems = self.check(**{first: unit("kLimit"), second: unit("kLimit")})
                self.assertEqual(len(problems), 1)
                self.assertIn(":2: kLimit is in " + first.replace("__", "/"), problems[0])

    def test_other_names_and_other_targets_are_clean(self):
        self.assertEqual(self.check(server__pg__a=unit("kLimit"), server__pg__b=unit("kLimits"),
                                    server__rpc__a=unit("kLimit")), [])

    def test_what_is_compiled_alone_is_clean(self):
        text = unit("kText")
        self.assertEqual(self.check(server__http__a=text, server__http__pages=text,
                                    server__upkeep__a=text, server__upkeep__b=text), [])

    def test_what_a_class_has_is_clean(self):
        member = unit("kLimit", "struct A {\n  static %s};\n")
        self.assertEqual(self.check(server__pg__a=member, server__pg__b=member), [])


if __name__ == "__main__":
    unittest.main()
