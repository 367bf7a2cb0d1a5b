"""Queues that are told of as they change."""

import signal
import unittest

from support.case import SystemTest, slow
from support.client import Client, reason_of
from support.rules_case import OTHER, OWN, RulesTest
from support.watch import Watch

LOCK = "LOCK TABLE skiplane.counter IN ACCESS EXCLUSIVE MODE"
READS = 'skiplane_db_statement_seconds_count{statement="counter_list"}'


class WatchTest(SystemTest):
    def setUp(self):
        super().setUp()
        self.broker, self.client = self.start()
        self.client.create_queue("a")
        self.client.create_queue("b")

    def watch(self, queues=(), client=None):
        watch = Watch(client or self.client, queues)
        self.addCleanup(watch.close)
        return watch

    def test_first_all_queues_are_told_then_what_changes(self):
        watch = self.watch()
        self.assertEqual(watch.begin(), ["a", "b"])
        self.client.enqueue("a")
        watch.until(lambda seen: seen["a"].counts.ready_count == 1)
        self.client.create_queue("c")
        watch.until(lambda seen: "c" in seen)
        self.client.pause("b", reason="deploy")
        watch.until(lambda seen: seen["b"].pause_reason == "deploy")
        self.client.ack(*self.client.lease("a"))
        watch.until(lambda seen: seen["a"].counts.succeeded_count == 1)

    def test_a_message_tells_only_of_queues_that_changed(self):
        watch = self.watch()
        watch.begin()
        self.client.enqueue("a")
        message = watch.next()
        self.assertEqual([summary.queue for summary in message.summaries], ["a"])

    def test_only_queues_that_were_asked_for_are_told(self):
        watch = self.watch(["b"])
        self.assertEqual(watch.begin(), ["b"])
        self.client.enqueue("a")
        self.client.enqueue("b")
        watch.until(lambda seen: seen["b"].counts.ready_count == 1)
        self.assertEqual(list(watch.seen), ["b"])

    def test_a_queue_that_is_not_there_is_refused(self):
        self.assertEqual(reason_of(self.watch(["a", "never"]).end_of()), "QUEUE_NOT_FOUND")
        self.assertEqual(reason_of(self.watch(["a", "no name"]).end_of()), "INVALID_FIELD")
        self.assertEqual(reason_of(self.watch(["a"] * 101).end_of()), "INVALID_FIELD")

    def test_many_read_as_often_as_one(self):
        """Each on a connection of its own."""
        watches = []
        for _ in range(50):
            client = Client(self.broker.address)
            self.addCleanup(client.close)
            watches.append(self.watch(client=client))
        for watch in watches:
            self.assertEqual(watch.begin(), ["a", "b"])
        begin = self.broker.metrics()[READS]
        for count in range(1, 4):
            self.client.enqueue("a")
            for watch in watches:
                watch.until(lambda seen, count=count: seen["a"].counts.ready_count >= count)
        self.assertLess(self.broker.metrics()[READS] - begin, 20)

    def test_a_broker_without_watchers_reads_nothing_for_them(self):
        watch = self.watch()
        watch.begin()
        before = self.broker.metrics()[READS]
        watch.close()
        self.database.pass_time(3)  # at most one read had begun or was due
        self.assertLessEqual(self.broker.metrics()[READS] - before, 2)

    def test_a_database_that_cannot_be_read_for_a_moment_ends_nothing(self):
        watch = self.watch()
        watch.begin()
        held = self.database.hold(LOCK)
        self.database.pass_time(4)  # longer than a read waits for the lock
        held.release()
        self.client.create_queue("c")
        watch.until(lambda seen: "c" in seen)

    @slow
    def test_a_database_that_cannot_be_read_for_long_ends_it(self):
        watch = self.watch()
        watch.begin()
        held = self.database.hold(LOCK)
        error = watch.end_of()
        held.release()
        self.assertEqual((error.code().name, reason_of(error)), ("ABORTED", "TRANSACTION_CONFLICT"))
        self.assertEqual(self.watch().begin(), ["a", "b"])

    def test_a_broker_that_shuts_down_ends_it_with_ok(self):
        watch = self.watch()
        watch.begin()
        self.broker.signal(signal.SIGTERM)
        self.assertIsNone(watch.end_of())
        self.assertEqual(self.broker.wait(), 0)

    def test_a_broker_that_is_killed_ends_it(self):
        watch = self.watch()
        watch.begin()
        self.broker.kill()
        self.assertEqual(watch.end_of().code().name, "UNAVAILABLE")


class Rules(RulesTest):
    TOKENS = ("reader",)
    RULES = "allow token:reader to read on own-*\n"

    def setUp(self):
        super().setUp()
        self.put(OWN), self.put(OTHER)
        self.client = Client(self.broker.address)
        self.addCleanup(self.client.close)

    def watch(self, queues=()):
        watch = Watch(self.client, queues, self.tokens["reader"])
        self.addCleanup(watch.close)
        return watch

    def replace_rules(self, text):
        seen = self.broker.output.count(" reloaded ")
        self.files.write("rules", f"allow token:root to all on *\n{text}")
        self.broker.wait_for_output(" reloaded ", times=seen + 1)

    def test_queues_that_one_may_not_read_are_not_told(self):
        watch = self.watch()
        self.assertEqual(watch.begin(), [OWN])
        for queue in (OTHER, "own-more"):
            self.put(queue)
        watch.until(lambda seen: "own-more" in seen)
        self.assertNotIn(OTHER, watch.seen)

    def test_rules_that_change_show_and_hide_queues(self):
        watch = self.watch()
        watch.begin()
        self.replace_rules("allow token:reader to read on other-*\n")
        watch.until(lambda seen: list(seen) == [OTHER])

    def test_who_may_read_nothing_any_more_is_told_so(self):
        watch = self.watch()
        watch.begin()
        self.replace_rules("")
        self.assertEqual(reason_of(watch.end_of()), "ACCESS_DENIED")


if __name__ == "__main__":
    unittest.main()
