"""Keys of tasks that SQL and gRPC make: the same lanes, the same policies."""

import random
import threading
import unittest

from support.case import SystemTest, slow
from support.client import DEADLINE_S, admin_pb2, broker_pb2, seconds
from support.producer import Producer, Refused

QUEUE = "keys"
HOUR = 3600


class Way:
    """How a task gets in, by its outcome and id."""

    def __init__(self, case, name):
        self._case, self.name = case, name

    def put(self, payload, key="doc", policy="rerun_if_newer", **fields):
        if self.name == "sql":
            return self._case.producer.put(QUEUE, payload, key=key, key_policy=policy, **fields)
        task = broker_pb2.NewTask(payload=payload, key=key,
                                  key_policy=f"KEY_POLICY_{policy.upper()}", **fields)
        [result] = self._case.client.enqueue_all(QUEUE, [task])
        outcome = broker_pb2.EnqueueOutcome.Name(result.outcome)
        return outcome.removeprefix("ENQUEUE_OUTCOME_"), result.task_id

    def declare(self, payload=b"one", period=HOUR):
        period = f"{period} s" if self.name == "sql" else seconds(period)
        return self.put(payload, policy="schedule", period=period)


@slow
class SqlKey(SystemTest):
    def setUp(self):
        super().setUp()
        _, self.client = self.start()
        self.producer = Producer(self.database)
        self.addCleanup(self.producer.end)

    def pairs(self):
        """SQL changes what gRPC made, and the other way round, and its own."""
        self.client.create_queue(QUEUE)
        for first, second in (("grpc", "sql"), ("sql", "grpc"), ("sql", "sql")):
            with self.subTest(first=first, second=second):
                yield Way(self, first), Way(self, second)
                self.assertEqual(self.client.lease(QUEUE, wait=0), [])
                counts = self.client.queue(QUEUE).counts
                self.assertEqual((counts.ready_count, counts.scheduled_count, counts.leased_count,
                                  counts.failed_count), (0, 0, 0, 0))
                self.database.run("DELETE FROM skiplane.task_key")

    def run_one(self):
        [task] = self.client.lease(QUEUE)
        self.assertEqual(self.client.ack(task), ["SETTLED"])
        return task

    def test_a_waiting_task_takes_the_newer_content(self):
        for first, second in self.pairs():
            outcome, task_id = first.put(b"one", version=1, priority=5)
            self.assertEqual(outcome, "CREATED")
            self.assertEqual(second.put(b"two", version=2), ("REPLACED", task_id))
            self.assertEqual(second.put(b"old", version=2), ("EXISTING", task_id))
            task = self.run_one()
            self.assertEqual((task.payload, task.version, task.priority, task.task_id),
                             (b"two", 2, 0, task_id))

    def test_a_running_task_runs_once_more(self):
        for first, second in self.pairs():
            _, task_id = first.put(b"one", version=1)
            [running] = self.client.lease(QUEUE)
            self.assertEqual(second.put(b"two", version=2), ("RERUN", task_id))
            self.client.ack(running)
            self.assertEqual(self.run_one().payload, b"two")

    def test_a_finished_and_a_failed_task_start_again(self):
        for first, second in self.pairs():
            _, task_id = first.put(b"one", version=1)
            self.run_one()
            self.assertEqual(second.put(b"two", version=2), ("RESTARTED", task_id))
            [task] = self.client.lease(QUEUE)
            self.client.nack(task, "FAIL")
            self.assertEqual(second.put(b"three", version=3), ("RESTARTED", task_id))
            self.assertEqual(self.run_one().payload, b"three")
            self.assertEqual(self.database.number("SELECT count(*) FROM skiplane.task_failed"), 0)

    def test_a_replaced_retry_leaves_its_error_group(self):
        for first, second in self.pairs():
            first.put(b"one", version=1)
            [task] = self.client.lease(QUEUE)
            self.client.nack(task, retry_delay=seconds(0))
            second.put(b"two", version=2)
            self.assertEqual(self.run_one().attempt, 1)
            self.database.eventually(
                "SELECT coalesce(sum(n), 0) = 0 FROM (SELECT retrying AS n FROM"
                " skiplane.error_delta UNION ALL SELECT retrying FROM skiplane.error_group) g")

    def test_keep_and_keep_unfinished(self):
        for first, second in self.pairs():
            _, task_id = first.put(b"one", policy="keep")
            for policy in ("keep", "keep_unfinished"):
                self.assertEqual(second.put(b"two", policy=policy), ("EXISTING", task_id))
            self.assertEqual(self.run_one().payload, b"one")
            self.assertEqual(second.put(b"two", policy="keep"), ("EXISTING", task_id))
            self.assertEqual(second.put(b"two", policy="keep_unfinished"), ("RESTARTED", task_id))
            self.assertEqual(self.run_one().payload, b"two")

    def test_replace_waiting_leaves_a_running_task_alone(self):
        for first, second in self.pairs():
            _, task_id = first.put(b"one", policy="replace_waiting")
            self.assertEqual(second.put(b"two", policy="replace_waiting"), ("REPLACED", task_id))
            [running] = self.client.lease(QUEUE)
            self.assertEqual(running.payload, b"two")
            self.assertEqual(second.put(b"three", policy="replace_waiting"),
                             ("EXISTING", task_id))
            self.client.ack(running)

    def test_reject_refuses_the_whole_statement(self):
        self.client.create_queue(QUEUE)
        _, task_id = Way(self, "grpc").put(b"one", policy="reject")
        with self.assertRaises(Refused) as refused:
            self.producer.enqueue_many(QUEUE, [
                {"payload": b"other"},
                {"payload": b"two", "key": "doc", "key_policy": "reject"}])
        self.assertEqual(refused.exception.state, "23505")
        self.assertIn(f"key: task {task_id} holds the key of task 2", refused.exception.message)
        self.assertEqual(self.run_one().payload, b"one")
        Way(self, "sql").put(b"new", key="free", policy="reject")
        self.assert_refused("ALREADY_EXISTS", "KEY_EXISTS", Way(self, "grpc").put, b"x",
                            key="free", policy="reject")

    def row(self):
        """The only task, with the transaction that wrote it."""
        [row] = self.database.run("SELECT xmin, t.* FROM skiplane.task t")
        return row

    def assert_idle(self):
        self.assertEqual(self.client.lease(QUEUE, wait=0), [])

    def assert_planned_in_two_hours(self):
        """No sooner: its schedule was that of one hour."""
        self.assertEqual(self.database.value(
            "SELECT schedule_time = planned_time AND planned_time - clock_timestamp()"
            " BETWEEN '61 min' AND '2 h' FROM skiplane.task"), "t")

    def change(self, verb, task_id):
        request = getattr(admin_pb2, f"{verb}TaskRequest")(task_id=task_id)
        getattr(self.client.admin, f"{verb}Task")(request, timeout=DEADLINE_S)

    def test_a_schedule_that_is_declared_again_changes_nothing(self):
        for first, second in self.pairs():
            outcome, task_id = first.declare()
            self.assertEqual(outcome, "CREATED")
            for _ in ("ready", "scheduled"):
                before = self.row()
                self.assertEqual(second.declare(), ("EXISTING", task_id))
                self.assertEqual(self.row(), before)
                if tasks := self.client.lease(QUEUE, wait=0):
                    self.client.ack(*tasks)
            self.assert_idle()
            self.change("Cancel", task_id)

    def test_another_schedule_is_taken_without_an_extra_run(self):
        for first, second in self.pairs():
            _, task_id = first.declare()
            self.assertEqual(self.run_one().payload, b"one")
            self.assertEqual(second.declare(b"two", 2 * HOUR), ("REPLACED", task_id))
            self.assert_idle()
            self.assert_planned_in_two_hours()
            self.change("Trigger", task_id)
            self.assertEqual(self.run_one().payload, b"two")
            self.change("Cancel", task_id)

    def test_another_schedule_is_the_next_runs_while_the_task_runs(self):
        for first, second in self.pairs():
            _, task_id = first.declare()
            [running] = self.client.lease(QUEUE)
            self.assertEqual(second.declare(b"two", 2 * HOUR), ("REPLACED", task_id))
            self.assertEqual(second.declare(b"two", 2 * HOUR), ("EXISTING", task_id))
            self.assert_idle()
            self.assertEqual(self.client.ack(running), ["SETTLED"])
            self.assert_idle()
            self.assert_planned_in_two_hours()
            self.change("Trigger", task_id)
            self.assertEqual(self.run_one().payload, b"two")
            self.change("Cancel", task_id)

    def test_twice_in_one_statement(self):
        self.client.create_queue(QUEUE)
        rows = self.producer.enqueue_many(QUEUE, [
            {"payload": b"%d" % i, "key": "k", "key_policy": "replace_waiting"} for i in range(3)]
            + [{"payload": b"a", "key": "first"}, {"payload": b"b", "key": "first"}])
        self.assertEqual([row[2] for row in rows],
                         ["existing", "existing", "created", "created", "existing"])
        self.assertEqual((rows[0][1], rows[3][1]), (rows[2][1], rows[4][1]))
        self.assertEqual([self.run_one().payload, self.run_one().payload], [b"2", b"a"])

    def test_each_row_tells_the_state_of_its_task(self):
        self.client.create_queue(QUEUE)
        for key in ("failed", "leased"):
            self.client.enqueue(QUEUE, key=key)
            [task] = self.client.lease(QUEUE)
            if key == "failed":
                self.client.nack(task, "FAIL")
        rows = self.producer.enqueue_many(QUEUE, [
            {"payload": b"", "key": "failed"}, {"payload": b"", "key": "leased"},
            {"payload": b"", "key": "new", "delay": "1 hour"}, {"payload": b"", "key": "new"},
            {"payload": b""}, {"payload": b"", "cron": "@yearly"}])
        self.assertEqual([row[2:] for row in rows], [
            ("existing", "failed"), ("existing", "leased"), ("created", "scheduled"),
            ("existing", "scheduled"), ("created", "ready"), ("created", "scheduled")])
        rows = self.producer.enqueue_many(QUEUE, [
            {"payload": b"", "key": "failed", "key_policy": "keep_unfinished"},
            {"payload": b"", "key": "leased", "key_policy": "rerun_if_newer", "version": 1}])
        self.assertEqual([row[2:] for row in rows], [("restarted", "ready"), ("rerun", "leased")])

    def test_within_one_transaction_the_last_version_counts(self):
        self.client.create_queue(QUEUE)
        calls = "; ".join(f"SELECT skiplane.enqueue('{QUEUE}', '{n}', key => 'doc',"
                          f" key_policy => 'rerun_if_newer', version => {n})" for n in (1, 3, 2))
        self.producer.run(f"BEGIN; {calls}; COMMIT;")
        self.assertEqual(self.run_one().payload, b"3")
        self.assertEqual(self.client.queue(QUEUE).counts.ready_count, 0)

    def test_of_many_producers_at_once_the_newest_wins(self):
        self.client.create_queue(QUEUE)
        ways = [Way(self, "sql"), Way(self, "grpc")]
        threads = [threading.Thread(target=ways[version % 2].put, args=(b"%d" % version,),
                                    kwargs={"version": version}) for version in range(1, 41)]
        for thread in threads:
            thread.start()
        seen = [self.run_one().payload]
        for thread in threads:
            thread.join()
        while tasks := self.client.lease(QUEUE, wait=0):
            seen.append(tasks[0].payload)
            self.client.ack(*tasks)
        self.assertEqual(seen[-1], b"40")
        self.assertEqual(self.client.queue(QUEUE).counts.ready_count, 0)

    def test_a_task_that_changes_during_the_call_is_judged_again(self):
        self.client.create_queue(QUEUE)
        way = Way(self, "sql")
        _, task_id = way.put(b"one", version=1)
        transaction = self.database.hold("UPDATE skiplane.task SET lease_number = lease_number + 1")
        outcomes = []
        thread = threading.Thread(target=lambda: outcomes.append(way.put(b"two", version=2)))
        thread.start()
        self.database.eventually("SELECT count(*) = 1 FROM pg_stat_activity WHERE wait_event_type ="
                                 " 'Lock' AND datname = current_database()")
        transaction.release()
        thread.join()
        self.assertEqual(outcomes, [("REPLACED", task_id)])
        self.assertEqual(self.run_one().payload, b"two")

    def test_one_call_makes_what_many_make(self):
        """enqueue has a shorter way for new keys."""
        self.client.create_queue("wide", lane_count=4)
        for key in map(str, range(20)):
            [result] = self.client.enqueue_all("wide", [broker_pb2.NewTask(key=key, version=7)])
            fields = {"key": key, "version": 8, "key_policy": "rerun_if_newer"}
            self.assertEqual(self.producer.enqueue("wide", b"two", **fields), result.task_id)
            made = self.producer.enqueue("wide", b"new", key=key + "-new", version=7)
            [result] = self.client.enqueue_all("wide", [broker_pb2.NewTask(key=key + "-new")])
            self.assertEqual(result.task_id, made)
            self.assertEqual(self.database.value(
                f"SELECT k.version || ' ' || t.version || ' ' || t.key FROM skiplane.task t"
                f" JOIN skiplane.task_key k ON k.task_id = t.id WHERE t.key = '{key}-new'"),
                f"7 7 {key}-new")
        self.assertEqual(self.client.queue("wide").counts.ready_count, 40)

    def test_keys_meet_in_a_queue_of_several_lanes(self):
        seed = random.randrange(1 << 30)
        dice = random.Random(seed)
        for lanes in (4, 7):
            queue = f"wide-{lanes}"
            self.client.create_queue(queue, lane_count=lanes)
            letters = "abc-_ \u00e4\u4e2d\U0001f600\x7f"
            keys = ["".join(dice.choices(letters, k=dice.randint(1, 60))) for _ in range(300)]
            keys = sorted(set(keys))
            with self.subTest(lanes=lanes, seed=seed):
                made = self.client.enqueue_all(queue, [broker_pb2.NewTask(key=key) for key in keys])
                rows = self.producer.enqueue_many(queue, [{"payload": b"", "key": key}
                                                          for key in keys])
                self.assertEqual([row[1:] for row in rows],
                                 [(result.task_id, "existing", "ready") for result in made])
                self.assertEqual(len({row[1].split("-")[0] for row in rows}), lanes)

    def test_tasks_without_a_key_are_spread_over_the_lanes(self):
        self.client.create_queue("wide", lane_count=4)
        rows = self.producer.run("SELECT skiplane.enqueue('wide', '') FROM generate_series(1, 300)")
        self.assertEqual(len({row[0].split("-")[0] for row in rows}), 4)
        rows = self.producer.enqueue_many("wide", [{"payload": b""}] * 200)
        self.assertEqual(len({row[1].split("-")[0] for row in rows}), 1)


if __name__ == "__main__":
    unittest.main()
