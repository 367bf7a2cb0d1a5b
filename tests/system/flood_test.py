"""Floods of HTTP/2 are cut before the broker's memory is at an end, others are served meanwhile and
afterwards, and heavy callers who mean it are not cut. The attacks are those of tests/flood."""

import os
import sys
import threading
import time
import unittest

from support.broker import BROKER
from support.case import SystemTest, leases_begun, slow
from support.process import GENEROUS_S

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "flood"))
import calls  # noqa: E402  pylint: disable=wrong-import-position
from attacks import PLAYS  # noqa: E402  pylint: disable=wrong-import-position
from target import Target  # noqa: E402  pylint: disable=wrong-import-position

QUEUE = "bystander"
IDLE_QUEUE = "idle"
MEMORY_MAX = 512 << 20
MANY_STREAMS = 10000
ATTACK_S = 60  # at most: it ends when the test has seen what it wants
CUT = "skiplane_connections_cut_total"


def cut(broker, *reasons):
    return cut_of(broker.metrics(), *reasons)


def cut_of(metrics, *reasons):
    return sum(value for name, value in metrics.items() if name.startswith(CUT)
               and (not reasons or any(f'"{reason}"' in name for reason in reasons)))


class Flood(SystemTest):
    def setUp(self):
        super().setUp()
        self.broker, self.client = self.start()
        if self.broker.is_sanitized():
            self.skipTest("a sanitizer keeps what is freed")
        for name in (QUEUE, calls.QUEUE, calls.LARGE_QUEUE, "empty"):
            self.client.create_queue(name)

    def assert_served(self, client):
        client.enqueue(QUEUE, b"x")
        [task] = client.lease(QUEUE)
        self.assertEqual(client.ack(task), ["SETTLED"])

    def assert_cut(self, attack, *reasons):
        """Until three of its connections were cut; others are served all the time."""
        target = Target(self.broker.address, None, ATTACK_S)
        attacker = threading.Thread(target=PLAYS[attack], args=(target,))
        attacker.start()
        try:
            while cut(self.broker, *reasons) < 3:
                self.assertTrue(attacker.is_alive(), "nobody cut it")
                self.assert_served(self.client)
        finally:
            target.stop()
            attacker.join(GENEROUS_S)
        self.assert_served(self.client)
        self.assert_served(self.client_of(self.broker))
        self.assertLess(self.broker.peak_rss(), MEMORY_MAX)
        self.broker.wait_for_output(" connection_cut ")
        self.assert_memory_goes_back()

    def assert_bounded(self, attack, method):
        """Others are served until all its streams were begun and some that read nothing were cut,
        and for a while after that."""
        target = Target(self.broker.address, None, 4 * ATTACK_S)
        attacker = threading.Thread(target=PLAYS[attack], args=(target,))
        attacker.start()
        begun = f'grpc_server_call_started_total{{grpc_method="{BROKER}/{method}"}}'
        looks_left = 100
        try:
            while looks_left > 0:
                metrics = self.broker.metrics()
                was_begun, was_cut = metrics.get(begun, 0), cut_of(metrics, "answers")
                self.assertTrue(attacker.is_alive(), f"{was_begun} streams were begun, {was_cut} "
                                f"connections cut for their answers, {cut_of(metrics)} in all")
                self.assert_served(self.client)
                if was_begun >= MANY_STREAMS and was_cut >= 3:
                    looks_left -= 1
        finally:
            target.stop()
            attacker.join(GENEROUS_S)
        self.assertLess(self.broker.peak_rss(), MEMORY_MAX)
        self.assert_served(self.client_of(self.broker))
        self.assert_memory_goes_back()

    def assert_memory_goes_back(self):
        end = time.monotonic() + GENEROUS_S
        while self.broker.rss() > 128 << 20:
            self.assertLess(time.monotonic(), end, "memory stays")

    def test_headers_that_do_not_end(self):
        self.assert_cut("continuation", "bytes")

    @slow
    def test_resets(self):
        self.assert_cut("rapid_reset", "streams")

    @slow
    def test_resets_of_many_connections(self):
        self.assert_cut("rapid_reset_50", "unread", "resets", "streams")

    @slow
    def test_bodies_that_do_not_end(self):
        self.assert_cut("endless_bodies", "bytes")

    @slow
    def test_bodies_that_stop(self):
        self.assert_cut("unfinished_bodies_100", "memory")

    @slow
    def test_bodies_that_come_slowly(self):
        self.assert_cut("slow_bodies", "streams")

    @slow
    def test_pushed_tasks_that_nobody_reads(self):
        self.assert_bounded("unread_work", "Work")

    @slow
    def test_leased_tasks_that_nobody_reads(self):
        self.assert_bounded("unread_leases", "Lease")

    @slow
    def test_refusals_on_a_stream_that_nobody_reads(self):
        target = Target(self.broker.address, None, 10)
        PLAYS["unread_refusals"](target)
        self.assertGreater(target.facts()["units"], 10)
        self.assertLess(self.broker.peak_rss(), MEMORY_MAX)
        self.assert_memory_goes_back()

    @slow
    def test_answers_that_nobody_reads(self):
        self.assert_cut("slow_readers_small", "streams")


class Heavy(SystemTest):
    """Callers that mean it."""

    def setUp(self):
        super().setUp()
        self.broker, self.client = self.start("--max-waiting-calls-per-connection=20000")
        for name in (QUEUE, IDLE_QUEUE):
            self.client.create_queue(name)

    def test_a_worker_that_leaves_and_gives_up_all_its_leases_at_once(self):
        many = 5000
        parked = [self.client.lease_later(QUEUE, worker_id=f"w{i}") for i in range(many)]
        end = time.monotonic() + GENEROUS_S
        while leases_begun(self.broker) < many:
            self.assertLess(time.monotonic(), end, "not all leases wait")
        # They have waited for as long, and the watch has seen them.
        self.assertEqual(self.client.lease(IDLE_QUEUE, wait=3), [])
        for call in parked:
            call.cancel()
        self.client.enqueue(QUEUE, b"x")
        [task] = self.client.lease(QUEUE)
        self.assertEqual(self.client.ack(task), ["SETTLED"])
        self.assertEqual(cut(self.broker), 0)


if __name__ == "__main__":
    unittest.main()
