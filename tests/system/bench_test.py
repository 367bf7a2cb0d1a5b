"""The benchmark runs: a line of JSON with every field for a scenario of each kind."""

import json
import os
import subprocess
import tempfile
import unittest

from support.broker import program
from support.case import slow
from support.stubs import ROOT

FIELDS = {"scenario", "tasks_per_s", "p50_ms", "p99_ms", "client_us", "broker_us", "postgres_us",
          "wal_bytes"}
EXTRAS = {"cycle_batch": {"tasks_per_ack_statement"}, "raw_sql": {"cycle_batch_share"},
          "chained_batch": {"ratio"}, "secured_batch": {"ratio_least"}, "drain": {"backlog"},
          "heartbeats": {"broker_cpu_percent"},
          "neighbours": {"alone_p99_ms", "p99_ratio", "large_share"},
          "stages": {"finished_tasks_per_s"}, "periodic": {"periodic_tasks", "classic_share"},
          "admin": {"list_ready_p99_ms", "bulk_lease_p99_share", "drop_slowest_lease_ms"}}
BOUND_S = 280


class Bench(unittest.TestCase):
    def run_bench(self, *flags):
        bench = os.path.join(os.environ["SKIPLANE_BUILD_DIR"], "tests", "bench", "skiplane_bench")
        return subprocess.run([bench, "--broker", program(), *flags], capture_output=True,
                              text=True, timeout=BOUND_S, check=False)

    @slow
    def test_a_line_for_a_scenario_of_each_kind(self):
        flags = [flag for name in EXTRAS for flag in ("--only", name)]
        result = self.run_bench("--quick", "--seconds", "1", *flags)
        self.assertEqual(result.returncode, 0, result.stderr)
        lines = {line["scenario"]: line for line in map(json.loads, result.stdout.splitlines())}
        self.assertEqual(list(lines), list(EXTRAS))
        for name, extras in EXTRAS.items():
            self.assertLessEqual(FIELDS | extras, set(lines[name]))
        self.assertGreater(lines["cycle_batch"]["tasks_per_s"], 0)

    def test_the_help_needs_no_build(self):
        run = os.path.join(ROOT, "tests", "bench", "run")
        with tempfile.TemporaryDirectory() as folder:
            build = os.path.join(folder, "build")
            result = subprocess.run([run, "--help"], capture_output=True, text=True, check=False,
                                    env={**os.environ, "SKIPLANE_BENCH_BUILD_DIR": build})
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            self.assertIn("--only NAME", result.stdout)
            self.assertFalse(os.path.exists(build))

    def test_an_unknown_scenario_is_refused(self):
        result = self.run_bench("--only", "nothing")
        self.assertEqual(result.returncode, 2)
        self.assertIn("nothing", result.stderr)

    def test_the_list_names_the_scenarios(self):
        names = self.run_bench("--list").stdout.split()
        self.assertLessEqual(set(EXTRAS), set(names))
        self.assertEqual(len(names), len(set(names)))


if __name__ == "__main__":
    unittest.main()
