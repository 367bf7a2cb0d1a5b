import unittest

from planted import Planted
from rules import visible

CACHE = "#pragma once\n\nclass [[nodiscard]] QueueCache : public Base {\n};\n" \
        "inline constexpr int kQueuesMax = 7;\n"


class Visible(Planted):
    rule = visible

    def problems(self, text, **others):
        headers = {f"server/model/{name}.h": body for name, body in others.items()}
        return visible.check({"server/model/a.cc": text, **headers})

    def assert_needs(self, header, text, **others):
        problems = self.problems(text, **others)
        self.assertEqual(len(problems), 1, problems)
        self.assertIn(f"needs an include of {header}", problems[0])

    def test_a_type_or_constant_of_ours_whose_header_is_missing_is_caught(self):
        for use in ("QueueCache* cache;\n", "int x = kQueuesMax;\n"):
            with self.subTest(use):
                self.assert_needs("server/model/cache.h", use, cache=CACHE)

    def test_a_name_of_another_namespace_is_looked_for_there(self):
        header = "namespace skiplane::model {\n" + CACHE
        use = "namespace skiplane::pg {\n%s cache;\n"
        self.assert_needs("server/model/cache.h", use % "model::QueueCache", cache=header)
        for name in ("QueueCache", "other::QueueCache", "QueueCache::Part"):
            self.assertEqual(self.problems(use % name, cache=header), [], name)

    def test_a_class_with_a_constructor_is_looked_at(self):
        header = CACHE.replace("{\n}", "{\n  explicit QueueCache(int size);\n}")
        self.assert_needs("server/model/cache.h", "QueueCache* cache;\n", cache=header)

    def test_what_an_included_header_announces_is_clean(self):
        self.assertEqual(self.problems('#include "server/model/b.h"\nQueueCache* cache;\n',
                                       cache=CACHE, b="class QueueCache;\n"), [])

    def test_a_header_that_another_one_includes_is_enough(self):
        through = '#include "server/model/cache.h"\n'
        self.assertEqual(self.problems('#include "server/model/b.h"\nQueueCache cache;\n',
                                       cache=CACHE, b=through), [])

    def test_headers_that_include_each_other_come_to_an_end(self):
        first, second = '#include "server/model/b.h"\n', '#include "server/model/c.h"\n'
        self.assert_needs("server/model/cache.h", first + "QueueCache cache;\n", cache=CACHE,
                          b=second, c=first)

    def test_what_is_only_announced_is_clean(self):
        self.assertEqual(self.problems("class QueueCache;\nQueueCache* cache;\n", cache=CACHE), [])

    def test_a_name_that_means_two_things_is_not_looked_at(self):
        nested = "class B {\n  struct QueueCache {\n  };\n};\n"
        self.assertEqual(self.problems("QueueCache* cache;\n", cache=CACHE, b=nested), [])

    def test_a_name_in_a_comment_or_a_text_is_clean(self):
        self.assertEqual(self.problems('// QueueCache\nauto x = "kQueuesMax";\n', cache=CACHE), [])

    def test_a_library_that_is_missing_is_caught(self):
        self.assert_needs("(?:algorithm)", "#include <vector>\nint x = std::max(1, 2);\n")
        self.assert_needs("(?:absl/time/clock",
                          '#include "absl/time/time.h"\nauto x = absl::Now();\n')

    def test_a_library_that_a_header_of_ours_includes_is_clean(self):
        self.assertEqual(self.problems('#include "server/model/b.h"\nint x = std::max(1, 2);\n',
                                       b="#include <algorithm>\n"), [])

    def test_tests_are_not_looked_at(self):
        self.assert_clean("tests/model/a.cc", "int x = std::max(1, 2);\n")


if __name__ == "__main__":
    unittest.main()
