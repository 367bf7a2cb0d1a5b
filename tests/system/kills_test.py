"""What tests/kills/run finds: nothing in a few kills, and each breach in evidence that has one."""

import collections
import contextlib
import io
import os
import sys
import tempfile
import unittest
from unittest import mock

from support.case import slow

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "kills"))
import command  # noqa: E402  pylint: disable=wrong-import-position
import judge  # noqa: E402  pylint: disable=wrong-import-position
from judge import Row  # noqa: E402  pylint: disable=wrong-import-position
from rounds import Round  # noqa: E402  pylint: disable=wrong-import-position

W, X = "worker-1", "worker-2"  # one that lives, one that was killed
P = "producer-1"


class Judge(unittest.TestCase):
    """What is sound: W retries task 1-1 and then acks it, and X gets 1-2, which W acks. 1-1 was
    given back once before anybody saw it."""

    def setUp(self):
        self.mortal = {X}
        self.events = {
            P: [["asked", "a"], ["answered", "a", "1-1"], ["asked", "b"], ["answered", "b", "1-2"]],
            W: [["got", "1-1", 1, "a"], ["sent", "1-1", 1, "retry"],
                ["told", "1-1", 1, "retry", "SETTLED"],
                ["got", "1-1", 2, "a"], ["sent", "1-1", 2, "ack"],
                ["told", "1-1", 2, "ack", "ALREADY_SETTLED"],
                ["got", "1-2", 2, "b"], ["sent", "1-2", 2, "ack"],
                ["told", "1-2", 2, "ack", "SETTLED"]],
            X: [["got", "1-2", 1, "b"]]}
        self.history = [Row("1-1", 1, judge.RETRIED, W), Row("1-1", 2, judge.SUCCEEDED, W),
                        Row("1-2", 1, judge.LOST, X), Row("1-2", 2, judge.SUCCEEDED, W)]
        self.released = collections.Counter({"1-1": 1})
        self.counts = (0, 0, 0, 2)

    def evidence(self):
        return judge.Evidence(self.events, self.mortal, self.history, self.released, self.counts)

    def assert_broken(self, text):
        broken = list(judge.broken_in(self.evidence()))
        self.assertTrue(any(text in sentence for sentence in broken), broken)

    def drop(self, name, kind):
        self.events[name] = [event for event in self.events[name] if event[0] != kind]

    def test_sound_evidence(self):
        self.assertEqual(list(judge.broken_in(self.evidence())), [])
        figures = judge.figures(self.evidence())
        self.assertEqual((figures["tasks"], figures["attempts lost with workers"],
                          figures["of them unseen"], figures["given back unseen"]), (2, 1, 0, 1))

    def test_a_task_that_was_answered_and_is_gone(self):
        del self.history[2:]
        self.assert_broken("task 1-2 of 'b' was answered and did not succeed")

    def test_an_enqueue_that_was_never_answered(self):
        self.drop(P, "answered")
        self.assert_broken("enqueue 'a' was never answered")

    def test_a_request_that_made_two_tasks(self):
        self.history.append(Row("1-3", 1, judge.SUCCEEDED, W))
        self.assert_broken("task 1-3 is none that an answer named")

    def test_a_payload_that_came_as_another_task(self):
        self.events[W].append(["got", "1-3", 1, "a"])
        self.assert_broken("got 'a' as 1-3, not 1-1")

    def test_a_task_that_succeeded_twice(self):
        self.history.append(Row("1-1", 3, judge.SUCCEEDED, W))
        self.assert_broken("task 1-1 succeeded 2 times in the history")

    def test_a_success_that_two_workers_were_told(self):
        self.events[X].append(["told", "1-1", 2, "ack", "SETTLED"])
        self.assert_broken("task 1-1 succeeded 2 times by answers to workers")

    def test_an_attempt_that_was_charged_and_that_nobody_made(self):
        self.history[1] = Row("1-1", 3, judge.SUCCEEDED, W)
        self.assert_broken("task 1-1 has the attempts [(1, 2), (3, 1)]")

    def test_a_task_that_ended_without_success(self):
        del self.history[1]
        self.assert_broken("task 1-1 ended with attempt (1, 2)")

    def test_a_charge_for_a_worker_that_lived(self):
        self.mortal = set()
        self.assert_broken("charged as lost, and its worker lived")

    def test_an_end_that_no_worker_asked_for(self):
        self.drop(W, "sent")
        self.assert_broken("its worker settled no such attempt")

    def test_an_answer_without_a_row(self):
        self.events[W].append(["told", "1-2", 5, "ack", "SETTLED"])
        self.assert_broken("its ack of attempt 5 of 1-2 by SETTLED: no row")

    def test_a_release_that_nobody_knows(self):
        self.events[W].append(["told", "1-2", 5, "release", "SETTLED"])
        self.assert_broken("released 1-2, and nobody knows")

    def test_a_settlement_that_came_too_late(self):
        self.events[W].append(["told", "1-1", 1, "ack", "LEASE_LOST"])
        self.assert_broken("its ack of attempt 1 of 1-1 by LEASE_LOST")

    def test_a_lease_that_was_pushed_twice(self):
        self.events[X] += [["got", "1-1", 2, "a"], ["got", "1-1", 2, "a"]]
        self.assert_broken("task 1-1 was pushed 4 times, of 3 leases")

    def test_an_attempt_that_ended_twice(self):
        self.history.append(self.history[0])
        self.assert_broken("ended 2 times")

    def test_a_queue_that_counts_a_task_twice(self):
        self.counts = (0, 0, 0, 3)
        self.assert_broken("the queue counts (0, 0, 0, 3), and 2 tasks succeeded")

    def test_a_queue_that_still_counts_a_task(self):
        self.counts = (0, 0, 1, 2)
        self.assert_broken("the queue counts (0, 0, 1, 2), and 2 tasks succeeded")

    def test_a_worker_that_lost_what_it_held(self):
        self.events[W].append(["lost", "1-1", 2, "hello"])
        self.assert_broken("worker-1 was told: ['1-1', 2, 'hello']")

    def test_a_worker_that_was_silent_may_lose_what_it_held(self):
        self.events[W] += [["silent", 9.0], ["lost", "1-1", 2, "hello"]]
        self.history[0] = self.history[0]._replace(outcome=judge.LOST)
        self.assertFalse([sentence for sentence in judge.broken_in(self.evidence())
                          if "lived" in sentence or "hello" in sentence])


class Kills(unittest.TestCase):
    @slow
    def test_a_few_kills_break_nothing(self):
        self.assertEqual(command.main(["--brokers", "10", "--workers", "10"]), 0)

    @slow
    def test_a_few_kills_break_nothing_of_packs(self):
        self.assertEqual(command.main(["--packing", "--brokers", "10", "--workers", "10"]), 0)

    @slow
    def test_a_few_kills_of_postgresql_break_nothing(self):
        self.assertEqual(command.main(["--packing", "--brokers", "2", "--workers", "5",
                                       "--databases", "5"]), 0)

    def run_with(self, sabotage):
        """What the command prints, of a round in which this statement harmed a pack: it says so by
        a row."""
        class Sabotaged(Round):
            def _kill_brokers(self, *arguments):
                self.database.eventually(
                    f"WITH harmed AS ({sabotage} RETURNING 1) SELECT count(*) > 0 FROM harmed")
                super()._kill_brokers(*arguments)
        with (tempfile.TemporaryDirectory() as folder,
              mock.patch.object(tempfile, "tempdir", folder),
              mock.patch.object(command, "Round", Sabotaged),
              contextlib.redirect_stdout(io.StringIO()) as printed):
            self.assertEqual(command.main(["--packing", "--brokers", "1", "--workers", "1"]), 1)
        return printed.getvalue()

    @slow
    def test_a_pack_that_vanishes_is_told(self):
        printed = self.run_with("DELETE FROM skiplane.task_pack WHERE id IN"
                                " (SELECT id FROM skiplane.task_pack LIMIT 1)")
        self.assertIn("was answered and did not succeed", printed)

    @slow
    def test_tasks_that_were_acked_in_packs_and_run_again_are_told(self):
        printed = self.run_with(
            "INSERT INTO skiplane.task (lane, id, schedule_time, create_time, max_attempts, state,"
            " attempt, payload) SELECT lane, task_id, schedule_time, create_time, max_attempts, 1,"
            " 0, 'again' FROM skiplane.packed_attempt LIMIT 10")
        self.assertIn("succeeded 2 times in the history", printed)


if __name__ == "__main__":
    unittest.main()
