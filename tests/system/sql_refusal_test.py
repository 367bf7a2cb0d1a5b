"""What the SQL API refuses, and what roles can do that have only that API, or its views."""

import unittest

from support.case import SystemTest
from support.producer import Producer, Refused, arguments

QUEUE = "guarded"
INVALID, UNKNOWN, PAUSED = "22023", "42704", "55000"
FORBIDDEN, FULL = "42501", "53400"
EVIL = "x'; DELETE FROM skiplane.task; --"
# Fields, and what the message says of them.
BAD = [
    ({"payload": None}, "payload: is missing"),
    ({"payload": b"x" * 101}, "payload: has 101 bytes; at most 100"),
    ({"key": ""}, "key: must not be empty"),
    ({"key": "\u00e4" * 128}, "key: has 256 bytes; at most 255"),
    ({"key": "k", "key_policy": "take"}, "key_policy: must be keep, keep_unfinished, rerun_if"),
    ({"key_policy": "reject"}, "key_policy: must be left out without a key"),
    ({"key_policy": "schedule", "period": "1 day"}, "key_policy: must be left out without a key"),
    ({"key": "k", "key_policy": "schedule"}, "key_policy: must not be schedule without period or"),
    ({"key": "k", "key_policy": "schedule", "cron": "@daily", "version": 1},
     "version: must be left out with schedule"),
    ({"key": "k", "version": -1}, "version: must be 1 or more"),
    ({"key": "k", "version": 0}, "version: must be 1 or more"),
    ({"version": 1}, "version: must be left out without a key"),
    ({"key": "k", "key_policy": "rerun_if_newer"}, "version: must be given"),
    ({"priority": 32768}, "priority: is 32768; must be -32768 to 32767"),
    ({"priority": -32769}, "priority: is -32769"),
    ({"delay": "1 s", "schedule_time": "2030-01-01"}, "delay: must be left out with schedule_time"),
    ({"delay": "-1 us"}, "delay: must be 0 to 3653 days"),
    ({"delay": "3654 days"}, "delay: must be"),
    ({"delay": "170000000 years"}, "delay: must be"),
    ({"schedule_time": "infinity"}, "schedule_time: is more than 10 years ahead"),
    ({"schedule_time": "2300-01-01"}, "schedule_time: is more than"),
    ({"max_attempts": 1001}, "max_attempts: is 1001; must be 1 to 1000"),
    ({"max_attempts": -1}, "max_attempts: is -1"),
    ({"max_attempts": 0}, "max_attempts: is 0; must be 1 to 1000"),
    ({"content_type": "x" * 256}, "content_type: has 256 bytes; at most 255"),
    ({"stage": "third"}, "stage: must be one of"),
    ({"stage": EVIL}, "stage: must be one of"),
    ({"period": "1 day", "cron": "0 0 * * *"}, "period: must be left out with cron"),
    ({"period": "1 month"}, "period: must be in days or less"),
    ({"period": "0.9 s"}, "period: must be 1 s to 3653 days"),
    ({"period": "3654 days"}, "period: must be 1 s"),
    ({"cron": ""}, "cron: "),
    ({"cron": "61 * * * *"}, "cron: minute"),
    ({"cron": "* " * 128}, "cron: must have at most 255 bytes"),
    ({"cron": EVIL}, "cron: "),
    ({"cron": "0 0 * * *", "time_zone": "Mars/Base"}, "time_zone: "),
    ({"cron": "0 0 * * *", "time_zone": EVIL}, "time_zone: "),
    ({"cron": "0 0 * * *", "time_zone": "x" * 65}, "time_zone: must have at most 64 bytes"),
    ({"time_zone": "UTC"}, "time_zone: must be left out without cron"),
    ({"catch_up": "sometimes"}, "catch_up: must be skip_missed or run_all"),
    ({"catch_up": "run_all"}, "catch_up: must be left out without period or cron"),
    ({"headers": {"a": 1}}, "headers: must be texts"),
    ({"headers": {"": "a"}}, "headers: names must have 1 to 128 bytes"),
    ({"headers": {"n" * 129: "a"}}, "headers: names must have 1 to 128 bytes"),
    ({"headers": {"a": "x" * 4097}}, "headers: texts must have at most 4096 bytes"),
    ({"headers": {str(n): "" for n in range(65)}}, "headers: has 65 entries; at most 64"),
    ({"headers": "[1]"}, "headers: must be an object of texts"),
]
GOOD = [
    {"payload": b"x" * 100}, {"key": "\u00e4" * 127 + "x"}, {"priority": -32768},
    {"priority": 32767}, {"delay": "3653 days"}, {"schedule_time": "-infinity"},
    {"max_attempts": 1000},
    {"content_type": "x" * 255}, {"stage": "second"}, {"stage": ""}, {"period": "1 s"},
    {"period": "3653 days"}, {"cron": "@daily", "time_zone": "Europe/Berlin",
                                   "catch_up": "run_all"},
    {"headers": {str(n): "x" * 4096 for n in range(64)}}, {"headers": {"n" * 128: ""}},
    {"key": "daily", "key_policy": "schedule", "period": "1 day"},
    {"headers": {}}, {"key": EVIL}, {"content_type": EVIL}, {"headers": {EVIL: EVIL}},
]


class SqlRefusal(SystemTest):
    def setUp(self):
        super().setUp()
        self.broker, self.client = self.start()
        self.client.create_queue(QUEUE, max_payload_bytes=100,
                                 stages=[{"name": "first"}, {"name": "second"}])
        self.producer = Producer(self.database)
        self.addCleanup(self.producer.end)

    def assert_state(self, state, call, *values, **fields):
        with self.assertRaises(Refused) as refused:
            call(*values, **fields)
        self.assertEqual(refused.exception.state, state, refused.exception)
        return refused.exception.message

    def test_each_bad_argument_is_named_and_nothing_is_made(self):
        before = self.database.picture()
        for fields, message in BAD:
            with self.subTest(**fields):
                fields = {"payload": b"x", **fields}
                said = self.assert_state(INVALID, self.producer.enqueue, QUEUE, **fields)
                self.assertTrue(said.startswith(message), said)
                said = self.assert_state(INVALID, self.producer.enqueue_many, QUEUE,
                                         [{"payload": b"fine"}, fields, fields])
                self.assertTrue(said.startswith("tasks[2]." + message), said)
        self.assertEqual(self.database.picture(), before)
        self.assertEqual(self.client.queue(QUEUE).counts.ready_count, 0)

    def test_each_value_at_its_bound_is_taken_as_it_is(self):
        for fields in GOOD:
            with self.subTest(**fields):
                fields = {"payload": b"x", **fields}
                task_id = self.producer.enqueue(QUEUE, **fields)
                task = self.client.task(task_id)
                self.assertEqual(task.key, fields.get("key", ""))
                self.assertEqual(task.priority, fields.get("priority", 0))
                if "key" not in fields:
                    self.assertNotEqual(self.producer.put(QUEUE, **fields)[1], task_id)

    def test_a_queue_that_cannot_take_tasks(self):
        for call in (self.producer.enqueue, self.producer.put):
            for queue in ("", "a b", "x" * 129, EVIL, None):
                said = self.assert_state(INVALID, call, queue, b"x")
                self.assertTrue(said.startswith("queue: must be 1 to 128"), said)
            self.assertIn("create it", self.assert_state(UNKNOWN, call, "nobodys", b"x"))
            self.client.pause(QUEUE, "ENQUEUE")
            self.assertIn("paused", self.assert_state(PAUSED, call, QUEUE, b"x"))
            self.client.pause(QUEUE, "LEASE")
            call(QUEUE, b"x")
            self.client.resume(QUEUE)
        self.assertEqual(self.client.queue(QUEUE).counts.ready_count, 2)

    def test_a_queue_that_has_as_many_tasks_as_it_may(self):
        self.client.update_queue(QUEUE, "max_depth", max_depth=3)
        self.producer.enqueue(QUEUE, b"x")
        said = self.assert_state(FULL, self.producer.enqueue_many, QUEUE,
                                 [{"payload": b"x"}] * 3)
        self.assertIn("max_depth", said)
        self.producer.enqueue_many(QUEUE, [{"payload": b"x"}] * 2)
        self.assert_state(FULL, self.producer.enqueue, QUEUE, b"x")
        [task] = self.client.lease(QUEUE)
        self.client.nack(task, "FAIL")
        self.producer.enqueue(QUEUE, b"x")
        self.client.update_queue(QUEUE, "max_depth")
        self.producer.enqueue_many(QUEUE, [{"payload": b"x"}] * 3)

    def test_the_role_reaches_no_table_no_view_and_no_other_function(self):
        self.producer.enqueue(QUEUE, b"secret", key="k")
        relations = self.database.run(
            "SELECT 'skiplane.' || c.relname, c.relkind FROM pg_class c WHERE c.relnamespace ="
            " 'skiplane'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'S')")
        self.assertGreater(len(relations), 20)
        for name, kind in relations:
            column = "last_value" if kind == "S" else "*"
            self.assert_state(FORBIDDEN, self.producer.run, f"SELECT {column} FROM {name}")
            if kind in "rp":
                self.assert_state(FORBIDDEN, self.producer.run, f"DELETE FROM {name}")
                self.assert_state(FORBIDDEN, self.producer.run,
                                  f"INSERT INTO {name} DEFAULT VALUES")
        self.assert_state(FORBIDDEN, self.producer.run, "CREATE TABLE skiplane.mine ()")
        self.assertEqual(self.callable_ones(self.producer),
                         ["enqueue", "enqueue_json", "enqueue_many", "make_task",
                          "sql_api_version"])
        self.assertEqual(self.producer.run("SELECT skiplane.sql_api_version()"), [("1",)])

    def callable_ones(self, who):
        rows = who.run("SELECT DISTINCT p.proname FROM pg_proc p"
                       " WHERE p.pronamespace = 'skiplane'::regnamespace"
                       " AND has_function_privilege(p.oid, 'EXECUTE') ORDER BY 1")
        return [name for (name,) in rows]

    def test_a_reader_sees_the_views_and_changes_nothing(self):
        reader = Producer(self.database, "skiplane_reader")
        self.addCleanup(reader.end)
        for view in ("tasks", "failed_tasks", "attempts", "queues", "workers"):
            reader.run(f"SELECT * FROM skiplane.{view}")
        # The only one that PostgreSQL would pass changes on through.
        self.assert_state(FORBIDDEN, reader.run, "UPDATE skiplane.workers SET name = 'x'")
        self.assert_state(FORBIDDEN, reader.run, "DELETE FROM skiplane.workers")
        self.assert_state(FORBIDDEN, reader.run, "SELECT payload FROM skiplane.task")
        self.assert_state(FORBIDDEN, reader.enqueue, QUEUE, b"x")
        self.assertEqual(self.callable_ones(reader), ["sql_api_version", "worker_handle"])

    def test_public_reaches_nothing(self):
        self.database.run(f"REVOKE skiplane_producer FROM {self.producer.name}")
        self.assert_state(FORBIDDEN, self.producer.enqueue, QUEUE, b"x")
        self.assert_state(FORBIDDEN, self.producer.run, "SELECT * FROM skiplane.queues")
        self.assertEqual(self.database.run(
            "SELECT p.oid::regprocedure FROM pg_proc p"
            " WHERE p.pronamespace = 'skiplane'::regnamespace AND EXISTS ("
            " SELECT FROM aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a"
            " WHERE a.grantee = 0)"), [])

    def test_what_the_caller_has_on_its_search_path_changes_nothing(self):
        self.database.run(
            "CREATE SCHEMA trap; GRANT USAGE ON SCHEMA trap TO PUBLIC;"
            "CREATE FUNCTION trap.clock_timestamp() RETURNS timestamptz LANGUAGE plpgsql AS"
            " $$ BEGIN RAISE 'trapped'; END $$;"
            "CREATE FUNCTION trap.octet_length(bytea) RETURNS int LANGUAGE plpgsql AS"
            " $$ BEGIN RAISE 'trapped'; END $$;")
        path = "SET search_path = trap, pg_catalog;"
        call = arguments(QUEUE, b"x", key="k", key_policy="replace_waiting")
        self.producer.run(f"{path} SELECT skiplane.enqueue({call})")
        self.producer.run(f"{path} SELECT skiplane.enqueue({arguments(QUEUE, b'x')})")
        self.assertEqual(self.client.queue(QUEUE).counts.ready_count, 2)


if __name__ == "__main__":
    unittest.main()
