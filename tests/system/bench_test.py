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
          "stream_pickup": {"hand_made_p50_ms", "hand_made_p99_ms", "p50_ratio"},
          "heartbeats": {"broker_cpu_percent"},
          "beating": {"sessions", "broker_cpu_percent", "postgres_cpu_percent"},
          "neighbours": {"alone_p99_ms", "p99_ratio", "large_share"},
          "stages": {"finished_tasks_per_s"}, "periodic": {"periodic_tasks", "classic_share"},
          "admin": {"list_ready_p99_ms", "bulk_lease_p99_share", "drop_slowest_lease_ms"}}
# Where producers are apart from workers.
APART = {"apart_batch": {"ack_p50_ms"}, "hand_made": {"ack_p50_ms"}, "light_load": {"ack_p50_ms"},
         "hand_made_light": {"ack_p50_ms"}, "hand_made_autovacuum": {"first_5_s", "last_5_s"},
         "stream_single": {"enqueue_p50_ms"}, "stream_half_loaded": {"enqueue_p50_ms"},
         "hand_made_snapshot": {"last_5_s", "last_5_s_without", "share"},
         "delayed_1m": {"rows", "share", "open_p99_ms", "empty_open_p99_ms"}}
BOUND_S = 280


class Bench(unittest.TestCase):
    def run_bench(self, *flags):
        bench = os.path.join(os.environ["SKIPLANE_BUILD_DIR"], "tests", "bench", "skiplane_bench")
        return subprocess.run([bench, "--broker", program(), *flags], capture_output=True,
                              text=True, timeout=BOUND_S, check=False)

    def lines_of(self, scenarios, *flags):
        names = [flag for name in scenarios for flag in ("--only", name)]
        result = self.run_bench("--quick", "--seconds", "1", *flags, *names)
        self.assertEqual(result.returncode, 0, result.stderr)
        lines = {line["scenario"]: line for line in map(json.loads, result.stdout.splitlines())}
        self.assertEqual(list(lines), list(scenarios))
        for name, extras in scenarios.items():
            self.assertLessEqual(FIELDS | extras, set(lines[name]))
        return lines

    @slow
    def test_a_line_for_a_scenario_of_each_kind(self):
        self.assertGreater(self.lines_of(EXTRAS)["cycle_batch"]["tasks_per_s"], 0)

    @slow
    def test_a_line_where_producers_are_apart(self):
        lines = self.lines_of(APART)
        self.assertGreater(lines["apart_batch"]["tasks_per_s"], 0)
        self.assertEqual(lines["hand_made"]["broker_us"], 0)  # it stands still

    def test_the_help_needs_no_build(self):
        run = os.path.join(ROOT, "tests", "bench", "run")
        with tempfile.TemporaryDirectory() as folder:
            build = os.path.join(folder, "build")
            result = subprocess.run([run, "--help"], capture_output=True, text=True, check=False,
                                    env={**os.environ, "SKIPLANE_BENCH_BUILD_DIR": build})
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            self.assertIn("--only NAME", result.stdout)
            self.assertFalse(os.path.exists(build))

    def test_what_it_installs_is_listed(self):
        with open(os.path.join(ROOT, "tests", "bench", "run"), encoding="utf-8") as file:
            command = next(line for line in file if "install-packages" in line)
        with open(os.path.join(ROOT, "deploy", "packages"), encoding="utf-8") as file:
            listed = {line.split()[0] for line in file if line.startswith("[")}
        groups = {f"[{group}]" for group in command.split()[1:]}
        self.assertEqual(groups, {"[build]", "[run]", "[bench]"})
        self.assertLessEqual(groups, listed)

    def test_an_unknown_scenario_is_refused(self):
        result = self.run_bench("--only", "nothing")
        self.assertEqual(result.returncode, 2)
        self.assertIn("nothing", result.stderr)

    def test_the_list_names_the_scenarios(self):
        names = self.run_bench("--list").stdout.split()
        self.assertLessEqual({*EXTRAS, *APART}, set(names))
        self.assertEqual(len(names), len(set(names)))


if __name__ == "__main__":
    unittest.main()
