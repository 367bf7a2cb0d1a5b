import unittest

from planted import Planted
from rules import sql

HEAD = "-- What it does. $1 lane.\n"


class Sql(Planted):
    rule = sql

    def found(self, files):
        names = " ".join(path.split("/")[-1][: -len(".sql")] for path in files)
        return super().found({"server/sql/CMakeLists.txt": f"set(statements {names})", **files})

    def caught(self, text, message):
        self.assert_caught("server/sql/a.sql", HEAD + text, message)

    def clean(self, text, head=HEAD):
        self.assert_clean("server/sql/a.sql", head + text)

    def test_a_statement_without_a_head_comment_is_caught(self):
        self.assert_caught("server/sql/a.sql", "SELECT 1", "no head comment")

    def test_a_statement_that_is_not_listed_is_caught(self):
        problems = sql.check({"server/sql/a.sql": HEAD + "SELECT 1",
                              "server/sql/CMakeLists.txt": "set(statements b)"})
        self.assertIn("server/sql/a.sql is not listed", problems[0])

    def test_each_way_to_name_a_table_without_its_lane_is_caught(self):
        for text in ("SELECT 1 FROM skiplane.task t WHERE t.id = $1",
                     "SELECT 1 FROM skiplane.task WHERE id = $1",
                     "SELECT 1 FROM x JOIN skiplane.task_key t ON t.key = x.key",
                     "SELECT 1 FROM x, skiplane.history AS t",
                     "UPDATE skiplane.lease_ledger t SET folds = 1",
                     "DELETE FROM skiplane.settled t USING x WHERE x.id = t.id",
                     "DELETE FROM x USING skiplane.enqueue_request t WHERE x.id = t.id"):
            with self.subTest(text):
                self.caught(text, "= $n`")

    def test_a_join_equality_of_lanes_is_not_enough(self):
        self.caught("SELECT 1 FROM p JOIN skiplane.task t ON t.lane = p.lane", "`t.lane = $n`")

    def test_the_lane_of_another_table_or_block_does_not_count(self):
        self.caught("SELECT 1 FROM skiplane.task t, skiplane.task_key k WHERE k.lane = $1",
                    "`t.lane = $n`")
        self.caught("WITH p AS (SELECT 1 FROM skiplane.task t) SELECT 1 FROM p t WHERE t.lane = $1",
                    "`t.lane = $n`")
        self.caught("SELECT 1 FROM skiplane.task WHERE id IN (SELECT x FROM y WHERE lane = $1)",
                    "`task.lane = $n`")

    def test_the_second_mention_is_looked_at_too(self):
        self.caught("WITH p AS (SELECT 1 FROM skiplane.task t WHERE t.lane = $1)\n"
                    "DELETE FROM skiplane.task t USING p WHERE t.id = p.id", ":3: t has no")

    def test_a_lane_by_parameter_is_fine(self):
        self.clean("SELECT 1 FROM skiplane.task t WHERE t.lane = $1::int8")
        self.clean("SELECT 1 FROM skiplane.task t WHERE $1::int8 = t.lane")
        self.clean("SELECT 1 FROM skiplane.task WHERE lane = $1 AND id = $2")
        self.clean("UPDATE skiplane.task SET due = 0 WHERE lane = $1")
        self.clean("SELECT 1 FROM x JOIN skiplane.enqueue_request r ON r.lane = $1 AND r.id = x.id")

    def test_other_tables_and_inserts_need_no_lane(self):
        self.clean("SELECT 1 FROM skiplane.queue q")
        self.clean("INSERT INTO skiplane.task (lane) SELECT w.lane FROM w\n"
                   "ON CONFLICT (lane) DO UPDATE SET due = 0")

    def test_a_reason_lifts_the_rule_and_a_bare_marker_does_not(self):
        text = "SELECT t.lane FROM skiplane.task t"
        self.clean(text, HEAD + "-- lanes: any because upkeep looks at all of them\n")
        self.assert_caught("server/sql/a.sql", HEAD + "-- lanes: any because\n" + text, "= $n`")

    def test_a_lane_in_a_comment_or_text_does_not_count(self):
        self.caught("SELECT 1 FROM skiplane.task t -- WHERE t.lane = $1", "= $n`")
        self.caught("SELECT 't.lane = $1' FROM skiplane.task t", "= $n`")

    def test_volatile_functions_in_changes_are_caught(self):
        for call in ("clock_timestamp()", "random()", "gen_random_uuid()"):
            with self.subTest(call):
                self.caught(f"UPDATE skiplane.queue SET x = {call}", "compute it before")
                self.caught(f"DELETE FROM skiplane.queue WHERE x < {call}", "compute it before")

    def test_volatile_functions_before_a_change_are_fine(self):
        self.clean("WITH n AS (SELECT clock_timestamp() AS at)\n"
                   "UPDATE skiplane.queue SET x = n.at FROM n WHERE id = $1")
        self.clean("INSERT INTO skiplane.queue SELECT random()")

    def test_a_subscript_in_set_is_caught(self):
        for value in ("($1::int[])[y]", "y[1]"):
            self.caught(f"UPDATE skiplane.queue SET x = {value} WHERE id = 1", "a subscript in SET")
        self.clean("UPDATE skiplane.queue SET x = $1::int[] WHERE ($2::int[])[1] = 7")

    def test_a_lock_that_waits_is_caught(self):
        for lock in ("FOR UPDATE", "FOR NO KEY UPDATE OF q", "FOR SHARE NOWAIT"):
            with self.subTest(lock):
                self.caught(f"SELECT 1 FROM skiplane.queue q {lock}", "without SKIP LOCKED")
        self.clean("SELECT 1 FROM (SELECT 1 FROM skiplane.queue q FOR UPDATE OF q SKIP LOCKED) x")
        self.clean("SELECT 1 FROM skiplane.queue FOR UPDATE",
                   HEAD + "-- locks: any because an operator may wait\n")


if __name__ == "__main__":
    unittest.main()
