"""A service that shares the database enqueues in its own transactions: skiplane.enqueue and
skiplane.enqueue_many."""

import re
import time
import unittest

from google.protobuf import timestamp_pb2
from support.case import SystemTest, slow
from support.client import seconds
from support.process import GENEROUS_S, Process
from support.producer import Producer, arguments

QUEUE = "api"
# A broker looks at an empty lane of its own accord after 5 seconds: only a notification is faster.
SOON_S = 3


@slow
class SqlApi(SystemTest):
    def setUp(self):
        super().setUp()
        self.broker, self.client = self.start()
        self.client.create_queue(QUEUE)
        self.producer = Producer(self.database)
        self.addCleanup(self.producer.end)

    def counts(self):
        counts = self.client.queue(QUEUE).counts
        return (counts.scheduled_count, counts.ready_count, counts.leased_count,
                counts.succeeded_count)

    def test_a_commit_wakes_a_parked_worker_of_each_broker(self):
        other_broker = self.start_broker()
        other = self.client_of(other_broker)
        parked = [self.park(self.broker, self.client, QUEUE),
                  self.park(other_broker, other, QUEUE)]
        transaction = self.database.hold(
            f"SELECT skiplane.enqueue({arguments(QUEUE, b'1')}), "
            f"skiplane.enqueue({arguments(QUEUE, b'2')})")
        transaction.release()
        begin = time.monotonic()
        payloads = sorted(task.payload for call in parked for task in call.result().tasks)
        self.assertEqual(payloads, [b"1", b"2"])
        self.assertLess(time.monotonic() - begin, SOON_S)

    def test_every_way_in_wakes_a_parked_worker(self):
        self.client.create_queue("steps", stages=[{"name": "first"}, {"name": "second"}])
        ways = [("enqueue", {}), ("enqueue", {"key": "k"}), ("enqueue", {"priority": -7}),
                ("enqueue", {"delay": "200 ms"}), ("enqueue", {"stage": "second"}),
                ("put", {}), ("put", {"key": "k", "key_policy": "keep_unfinished"})]
        for way, fields in ways:
            with self.subTest(way=way, **fields):
                stage = fields.get("stage", "first")
                self.assertEqual(self.client.lease("steps", stage=stage, wait=0), [])
                parked = self.client.lease_later("steps", stage=stage)
                getattr(self.producer, way)("steps", b"x", **fields)
                begin = time.monotonic()
                [task] = parked.result().tasks
                self.assertLess(time.monotonic() - begin, SOON_S)
                self.client.ack_results(task, finish={})

    def test_a_notification_reaches_back_to_what_a_long_transaction_made(self):
        """Others were leased in the meantime: brokers must begin to look before them."""
        listener = Process(["psql", "-X", "-q", self.database.uri])
        self.addCleanup(listener.end)
        listener.tell("LISTEN skiplane;")
        listener.tell("\\echo listens")
        listener.wait_for_output("listens")
        transaction = self.database.hold(f"SELECT skiplane.enqueue({arguments(QUEUE, b'early')})")
        self.database.eventually("SELECT clock_timestamp() - xact_start > '1 s' FROM"
                                 " pg_stat_activity WHERE state = 'idle in transaction'"
                                 " AND datname = current_database()")
        transaction.release()
        listener.tell("SELECT 1;")
        listener.wait_for_output("received from")
        lane, stage, priority, is_ready, count, schedule_time = re.search(
            r'"tasks - (\S+) (\S+) (\S+) (\S+) (\S+) (\S+)"', listener.output).groups()
        self.assertEqual((lane, stage, priority, is_ready, count), ("1", "0", "0", "1", "1"))
        made_at = self.database.number("SELECT (extract(epoch FROM schedule_time) * 1000000)::int8"
                                       " FROM skiplane.task")
        self.assertLessEqual(int(schedule_time), made_at)

    def test_of_many_that_commit_at_once_none_is_left_behind(self):
        statement = f"SELECT skiplane.enqueue({arguments(QUEUE, b'x')});"
        sessions = [Process(["psql", "-X", "-q", self.producer.uri]) for _ in range(12)]
        for session in sessions:
            self.addCleanup(session.end)
        for _ in range(25):
            self.assertEqual(self.client.lease(QUEUE, wait=0), [])
            for session in sessions:
                session.tell(statement)
            got, begin = 0, time.monotonic()
            while got < len(sessions):
                tasks = self.client.lease(QUEUE, max_tasks=20)
                got += len(self.client.ack(*tasks))
            self.assertLess(time.monotonic() - begin, SOON_S)

    def test_who_notifies_for_others_commits_after_them(self):
        """Three commits, stopped between their notification and their end."""
        self.database.run("ALTER FUNCTION skiplane.notify_brokers() SET lock_timeout = '60 s'")
        parked = [self.park(self.broker, self.client, QUEUE) for _ in range(3)]
        statement = f"SELECT skiplane.enqueue({arguments(QUEUE, b'x')})"
        waits = ("SELECT count(*) = 1 FROM pg_locks WHERE NOT granted AND locktype = 'advisory'"
                 " AND mode = 'ExclusiveLock' AND database ="
                 " (SELECT oid FROM pg_database WHERE datname = current_database())")
        first = self.database.hold(f"{statement}; SET CONSTRAINTS ALL IMMEDIATE")
        notifying = Process(["psql", "-X", "-q", self.producer.uri])
        self.addCleanup(notifying.end)
        notifying.tell(f"{statement};")
        self.database.eventually(waits)  # until the first has left the stage
        quiet = self.database.hold(f"{statement}; SET CONSTRAINTS ALL IMMEDIATE")
        first.release()
        self.assertEqual(len(parked[0].result().tasks), 1)
        self.database.eventually(waits)  # until the quiet one can be seen
        self.assertEqual(self.database.number("SELECT count(*) FROM skiplane.task"), 1)
        quiet.release()
        begin = time.monotonic()
        self.assertEqual([len(call.result().tasks) for call in parked[1:]], [1, 1])
        self.assertLess(time.monotonic() - begin, SOON_S)

    def test_a_rollback_leaves_nothing(self):
        heard = self.heard()
        self.producer.enqueue(QUEUE, key="known", key_policy="replace_waiting")
        self.wait_until_heard(heard)
        before, counts = self.database.picture(), self.counts()
        heard = self.heard()
        self.producer.run(f"""BEGIN;
            SELECT skiplane.enqueue({arguments(QUEUE, b"gone")});
            SELECT skiplane.enqueue({arguments(QUEUE, b"gone", key="new")});
            SELECT skiplane.enqueue({arguments(QUEUE, b"gone", key="known",
                                               key_policy="replace_waiting")});
            SELECT * FROM skiplane.enqueue_many('{QUEUE}', ARRAY[skiplane.make_task('gone')]);
            ROLLBACK;""")
        self.assertEqual(self.database.picture(), before)
        self.assertEqual(self.counts(), counts)
        self.assertEqual(self.heard(), heard)

    def heard(self):
        return self.broker.metrics().get('skiplane_db_notifications_total{direction="received"}', 0)

    def wait_until_heard(self, before):
        end = time.monotonic() + GENEROUS_S
        while self.heard() == before:
            self.assertLess(time.monotonic(), end, "no notification came")

    def test_the_api_knows_what_sql_made(self):
        ahead = timestamp_pb2.Timestamp(seconds=int(time.time()) + 3600)
        task_id = self.producer.enqueue(
            QUEUE, b"\x00\xff", key="k", priority=-5, max_attempts=3,
            headers={"a": "\u00e4"}, content_type="text/x", schedule_time=ahead.ToJsonString())
        task = self.client.task(task_id)
        self.assertEqual((task.task_id, task.key, task.priority, task.max_attempts),
                         (task_id, "k", -5, 3))
        self.assertEqual(task.schedule_time, ahead)
        self.database.make_due()
        [leased] = self.client.lease(QUEUE)
        self.assertEqual((leased.task_id, leased.payload, dict(leased.headers),
                          leased.content_type, leased.priority),
                         (task_id, b"\x00\xff", {"a": "\u00e4"}, "text/x", -5))
        self.assertEqual(self.client.ack(leased), ["SETTLED"])
        self.assertEqual(self.client.state(task_id), "SUCCEEDED")

    def test_defaults_are_the_queues(self):
        retry = {"max_attempts": 4, "max_delay": seconds(60)}
        self.client.create_queue("own", retry=retry, stages=[
            {"name": "a"}, {"name": "b", "retry": {"max_attempts": 7, "max_delay": seconds(60)}}])
        for stage, attempts in ((None, 4), ("a", 4), ("b", 7)):
            for way in (self.producer.enqueue, lambda *a, **f: self.producer.put(*a, **f)[1]):
                task_id = way("own", b"", stage=stage)
                self.assertEqual(self.client.task(task_id).max_attempts, attempts)

    def test_json_payloads_say_what_they_are(self):
        self.producer.run(f"SELECT skiplane.enqueue_json('{QUEUE}', '{{\"a\": 1}}', priority => 3)")
        [task] = self.client.lease(QUEUE)
        self.assertEqual((task.payload, task.content_type, task.priority),
                         (b'{"a": 1}', "application/json", 3))

    def test_one_notification_of_a_transaction_is_enough(self):
        parked = [self.park(self.broker, self.client, QUEUE) for _ in range(5)]
        calls = ";".join(f"SELECT skiplane.enqueue({arguments(QUEUE, b'x')})" for _ in range(5))
        heard = self.heard()
        self.producer.run(f"BEGIN; {calls}; COMMIT;")
        begin = time.monotonic()
        self.assertEqual([len(call.result().tasks) for call in parked], [1] * 5)
        self.assertLess(time.monotonic() - begin, SOON_S)
        self.assertEqual(self.heard() - heard, 1)

    def test_a_thousand_and_twenty_thousand_tasks_in_one_statement(self):
        for count in (1000, 20000):
            with self.subTest(count):
                rows = self.producer.run(
                    f"SELECT m.* FROM skiplane.enqueue_many('{QUEUE}', ARRAY("
                    f"SELECT skiplane.make_task(i::text::bytea, key => CASE i % 2 WHEN 1 THEN"
                    f" '{count}-' || i END) FROM generate_series(1, {count}) i)) m")
                self.assertEqual([int(row[0]) for row in rows], list(range(1, count + 1)))
                self.assertEqual({row[2] for row in rows}, {"created"})
                before = self.counts()[1]
                self.assertEqual(before, count)
                seen = []
                wait = GENEROUS_S  # the lane may be believed to be empty still
                while tasks := self.client.lease(QUEUE, wait=wait, max_tasks=1000):
                    wait = 0
                    seen += [(task.task_id, task.payload) for task in tasks]
                    self.client.ack(*tasks)
                self.assertEqual(seen, [(row[1], row[0].encode()) for row in rows])
                self.assertEqual(self.counts()[:3], (0, 0, 0))
        self.assertEqual(self.counts()[3], 21000)

    def test_nothing_and_counts_of_what_waits_for_a_time(self):
        self.assertEqual(self.producer.enqueue_many(QUEUE, []), [])
        self.producer.enqueue(QUEUE, delay="1 hour")
        self.producer.enqueue_many(QUEUE, [{"payload": b"", "delay": "1 day"},
                                           {"payload": b"", "schedule_time": "2000-01-01"}])
        self.assertEqual(self.counts(), (2, 1, 0, 0))


if __name__ == "__main__":
    unittest.main()
