"""tests/bench/compare: peers and our own scenarios in turns, and a table of what they did."""

import json
import os
import subprocess
import tempfile
import unittest

from support.broker import program
from support.case import slow
from support.stubs import ROOT

COMPARE = os.path.join(ROOT, "tests", "bench", "compare")
MEMORY = "/dev/shm"
BOUND_S = 280
# Says what it was called for, and reaches its database, in which something can be done.
PEER = """#!/usr/bin/python3
import json, sys
import psycopg2
uri, scenario, seconds = sys.argv[1:]
connection = psycopg2.connect(uri)
cursor = connection.cursor()
cursor.execute("CREATE TABLE t AS SELECT g FROM generate_series(1, 50000) g")
connection.commit()
cursor.execute("SELECT setting FROM pg_settings WHERE name = 'autovacuum_naptime'")
naptime = cursor.fetchone()[0]
cursor.execute("SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' "
               "AND state = 'idle in transaction' AND pid <> pg_backend_pid()")
print("not JSON")
print(json.dumps({"tasks": 50000, "tasks_per_s": 2500, "p50_ms": 1, "p99_ms": 2,
                  "called": [scenario, seconds], "naptime": naptime,
                  "snapshots": cursor.fetchone()[0]}))
"""
LAME = """#!/bin/sh
echo '{"absent": "keeps no order"}'
"""
BROKEN = """#!/bin/sh
echo 'it broke' >&2
exit 3
"""
# In place of ours: 5,000 tasks per second, and 10,000 at the table made by hand.
BENCH = """#!/usr/bin/python3
import json, sys
name = sys.argv[sys.argv.index("--only") + 1]
print(json.dumps({"scenario": name, "tasks_per_s": 10000 if name.startswith("hand") else 5000,
                  "p50_ms": 3, "p99_ms": 4, "client_us": 1, "broker_us": 2, "postgres_us": 3,
                  "wal_bytes": 1000}))
"""


class Compare(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(dir=MEMORY if os.path.isdir(MEMORY) else None)
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        os.chmod(self.folder, 0o755)
        self.peers = os.path.join(self.folder, "peers")
        os.mkdir(self.peers)

    def write(self, path, text):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, 0o755)
        return path

    def compare(self, *flags, bench=None):
        bench = bench or self.write(os.path.join(self.folder, "bench"), BENCH)
        result = subprocess.run(
            [COMPARE, "--peers", self.peers, "--bench", bench, "--broker", program(),
             "--directory", self.folder, "--seconds", "1", "--quick", *flags],
            capture_output=True, text=True, timeout=BOUND_S, check=False)
        cells = [line.strip("| ").split(" | ") for line in result.stdout.splitlines()
                 if line.startswith("| ")]
        told = [json.loads(line) for line in result.stderr.splitlines() if line.startswith("{")]
        return result, {row[0]: row[1:] for row in cells}, told

    def test_a_peer_stands_in_the_table_beside_ours(self):
        self.write(os.path.join(self.peers, "pgmq"), PEER)
        self.write(os.path.join(self.peers, "mine"), LAME)
        result, table, told = self.compare("--only", "snapshot", "--rounds", "1")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("## snapshot", result.stdout)
        self.assertEqual(table["Skiplane"], ["5,000 (5,000, 5,000)", "1.00", "3.0 · 4.0",
                                             "1.0 · 2.0 · 3.0", "1,000"])
        self.assertEqual(table["table made by hand"][1], "2.00")
        self.assertEqual(table["pgmq"][:3], ["2,500 (2,500, 2,500)", "0.50", "1.0 · 2.0"])
        self.assertEqual(table["mine"][0], "absent: keeps no order")
        self.assertEqual(table["river"][0], "absent: no driver")
        peer = next(line for line in told if line["system"] == "pgmq")
        self.assertEqual((peer["called"], peer["naptime"], peer["snapshots"]),
                         (["snapshot", "1"], "15", 1))
        self.assertGreater(peer["wal_bytes"], 10)
        self.assertGreater(peer["client_us"], 0)
        self.assertGreater(peer["postgres_us"], 0)
        self.assertEqual(sorted(os.listdir(self.folder)), ["bench", "peers"])

    def test_systems_take_turns_and_autovacuum_is_postgresqls_own(self):
        self.write(os.path.join(self.peers, "pgmq"), PEER)
        result, _, told = self.compare("--only", "autovacuum", "--rounds", "2")
        self.assertEqual(result.returncode, 0, result.stderr)
        order = [line["system"] for line in told if "absent" not in line]
        self.assertEqual(order, ["Skiplane", "table made by hand", "pgmq",
                                 "table made by hand", "pgmq", "Skiplane"])
        self.assertEqual({line["naptime"] for line in told if line["system"] == "pgmq"}, {"60"})

    def test_a_peer_that_fails_is_told_and_the_others_go_on(self):
        self.write(os.path.join(self.peers, "pgmq"), BROKEN)
        result, table, _ = self.compare("--only", "batch", "--rounds", "1")
        self.assertEqual(result.returncode, 1)
        self.assertEqual(table["pgmq"][0], "failed: code 3: it broke")
        self.assertEqual(table["Skiplane"][1], "1.00")

    def test_the_help_says_what_a_driver_is(self):
        result = subprocess.run([COMPARE, "--help"], capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 0)
        self.assertIn("FOLDER/NAME POSTGRESQL-URI SCENARIO SECONDS", result.stdout)

    @slow
    def test_our_own_scenarios_are_there(self):
        bench = os.path.join(os.environ["SKIPLANE_BUILD_DIR"], "tests", "bench", "skiplane_bench")
        names = [flag for name in ("batch", "unary", "drain", "pickup", "light")
                 for flag in ("--only", name)]
        result, table, _ = self.compare("--rounds", "1", *names, bench=bench)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(table["Skiplane"][1], "1.00")


if __name__ == "__main__":
    unittest.main()
