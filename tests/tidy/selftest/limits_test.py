import unittest

from planted import Planted
from rules import limits

BOUNDS = """
inline constexpr int kTasksPerCallMax = 1000;
inline constexpr int kQueuesMax = 100000;
inline constexpr int64_t kBytesMax = 32 << 20;  // before copies
inline constexpr int64_t kParkedRequestBytes = 4 << 10;
inline constexpr absl::Duration kKept = absl::Minutes(2);
"""
GOOD = """| queues | installation | 100,000 | `kQueuesMax` | refused | 1 s |
| bytes | broker | 32 MiB, and some | `--max-bytes`, `kBytesMax` | refused | |
| time | call | 120 s | `kKept` | refused | |
"""


class Limits(Planted):
    rule = limits

    def check(self, rows, default="33554432"):
        document = ("# Operations\n\n## Flags\n\n| flag | default | what |\n|---|---|---|\n"
                    f"| `--max-bytes N` | {default} | x |\n\n## Limits\n\n{rows}\n## More\n")
        return limits.check({"docs/OPERATIONS.md": document, "server/model/limits.h": BOUNDS})

    def test_a_table_with_the_numbers_of_the_code_is_clean(self):
        self.assertEqual(self.check(GOOD), [])

    def test_another_number_is_caught(self):
        self.assertEqual(self.check(GOOD.replace("100,000", "10,000")),
                         ["docs/OPERATIONS.md:11: `kQueuesMax` is 100000"])
        self.assertEqual(self.check(GOOD.replace("32 MiB", "32 KiB"), "32768"),
                         ["docs/OPERATIONS.md:12: `kBytesMax` is 33554432"])
        self.assertEqual(self.check(GOOD, "5"), ["docs/OPERATIONS.md:12: `--max-bytes` is 5"])
        self.assertEqual(self.check(GOOD.replace("120 s", "2 s")),
                         ["docs/OPERATIONS.md:13: `kKept` is 120"])

    def test_a_name_that_does_not_exist_is_caught(self):
        self.assertEqual(self.check(GOOD.replace("kKept`", "kKept`, `kLost`")),
                         ["docs/OPERATIONS.md:13: `kLost` is no constant and no flag"])

    def test_a_bound_of_brokers_that_is_left_out_is_caught(self):
        rows = "".join(line for line in GOOD.splitlines(True) if "kQueuesMax" not in line)
        self.assertEqual(self.check(rows), [
            "docs/OPERATIONS.md:9: `kQueuesMax` is not in the table of limits"])


if __name__ == "__main__":
    unittest.main()
