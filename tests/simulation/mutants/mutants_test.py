"""The simulation finds each fault of mutants.py within 4,000 seeds, by the invariant it breaks."""

import os
import pathlib
import re
import subprocess
import unittest

BUILD = pathlib.Path(os.environ["SKIPLANE_BUILD_DIR"])
# The rarest is found once in some 650 seeds.
SEEDS = 4000

NOT_ANSWERED = "a call is not answered"
ANSWERED_EMPTY = "a caller that does not wait is answered empty, though a task is known"
TOLD_OF_NOTHING = "a caller is told of nothing though something is leased under its request id"
GETS_LESS = "a caller gets less than it asked for, though a task is known"
HANDED_TO_NOBODY = "a leased task is handed to nobody"
PASSED = "a caller is passed again and again"
UNFAIR = (PASSED, "a principal is dealt more", "a worker is dealt more", "the first turn is of ")
SKIPPED = "a statement skips a task that was known to be ready"
PASSED_OVER = "a hand-off passes over a task that was known to be ready"
WAIT_FOR_EACH_OTHER = "a task and a caller wait for each other"
NOT_UNDER_WAY = "a task and a caller wait, and nothing is under way"


class Mutants(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        built = subprocess.run(
            ["cmake", "--build", BUILD, "--target", "skiplane_mutants", "--", "-k", "0"],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        cls.built = built.stdout if built.returncode else ""

    def play(self, name):
        program = BUILD / "tests/simulation/mutants" / f"mutant_{name}"
        self.assertTrue(program.exists(), self.built)
        result = subprocess.run([program, str(SEEDS)], stdout=subprocess.PIPE, text=True,
                                timeout=240, check=False)
        self.assertEqual(result.returncode, 1, result.stdout[:1000])
        return result.stdout

    def assert_found(self, name, *invariants):
        told = re.match(r"after \d+ seeds: (.*)", self.play(name)).group(1)
        self.assertTrue(told.startswith(invariants), told)

    def test_all_are_built(self):
        self.assertEqual(self.built, "")

    # What is printed is short enough to be read, and ends with what is broken.
    def test_the_shortest_history_is_told(self):
        told = self.play("paused_queue_asks_nobody")
        inputs = re.findall(r"(?m)^  (\w+) at=\d+ ", told)
        self.assertLessEqual({"call", "enqueue", "pause"}, set(inputs))
        self.assertLess(len(inputs), 8)
        self.assertIn("the shortest history that breaks something:\nhistory seed=", told)
        self.assertIn(NOT_UNDER_WAY, told.splitlines()[-1])

    def test_deadline_without_alarm(self):
        self.assert_found("deadline_without_alarm", NOT_ANSWERED)

    def test_expiry_while_serving_is_forgotten(self):
        self.assert_found("expiry_while_serving_is_forgotten", NOT_ANSWERED)

    def test_successor_is_not_started(self):
        self.assert_found("successor_is_not_started", NOT_ANSWERED, WAIT_FOR_EACH_OTHER)

    def test_repeat_is_told_of_nothing_without_a_last_look(self):
        self.assert_found("repeat_is_told_of_nothing_without_a_last_look", TOLD_OF_NOTHING)

    def test_calls_finish_twice(self):
        self.assert_found("calls_finish_twice", "a call is answered twice")

    def test_empty_lanes_stay_empty(self):
        self.assert_found("empty_lanes_stay_empty", ANSWERED_EMPTY)

    def test_cancelled_call_is_answered_with_tasks(self):
        self.assert_found("cancelled_call_is_answered_with_tasks",
                          "a task is handed to two callers", GETS_LESS)

    def test_orphans_are_not_handed_back(self):
        self.assert_found("orphans_are_not_handed_back", HANDED_TO_NOBODY,
                          "a task that a caller held is given to nobody")

    def test_reservation_is_not_declined(self):
        self.assert_found("reservation_is_not_declined", NOT_ANSWERED)

    def test_last_come_first_served(self):
        self.assert_found("last_come_first_served", PASSED)

    def test_turns_go_by_calls(self):
        self.assert_found("turns_go_by_calls", *UNFAIR)

    def test_turns_go_by_workers(self):
        self.assert_found("turns_go_by_workers", *UNFAIR)

    def test_principal_keeps_its_turn(self):
        self.assert_found("principal_keeps_its_turn", *UNFAIR)

    def test_worker_keeps_its_turn(self):
        self.assert_found("worker_keeps_its_turn", *UNFAIR)

    def test_turns_that_brought_nothing_are_taken(self):
        self.assert_found("turns_that_brought_nothing_are_taken", "the first turn is of ")

    def test_statement_without_callers_stays_open(self):
        self.assert_found("statement_without_callers_stays_open", WAIT_FOR_EACH_OTHER)

    def test_lanes_of_served_callers_are_not_asked(self):
        self.assert_found("lanes_of_served_callers_are_not_asked", NOT_UNDER_WAY)

    def test_call_that_holds_tasks_waits(self):
        self.assert_found("call_that_holds_tasks_waits", NOT_ANSWERED)

    def test_what_a_call_holds_is_lost(self):
        self.assert_found("what_a_call_holds_is_lost", HANDED_TO_NOBODY)

    def test_call_is_answered_with_its_first_part(self):
        self.assert_found("call_is_answered_with_its_first_part", GETS_LESS)

    def test_hand_off_beside_tasks_that_are_known(self):
        self.assert_found("hand_off_beside_tasks_that_are_known", PASSED_OVER)

    def test_hand_off_without_tasks_keeps_its_callers(self):
        self.assert_found("hand_off_without_tasks_keeps_its_callers", NOT_ANSWERED,
                          WAIT_FOR_EACH_OTHER)

    def test_paused_queue_asks_nobody(self):
        self.assert_found("paused_queue_asks_nobody", NOT_UNDER_WAY)

    def test_blocked_lanes_are_forgotten(self):
        self.assert_found("blocked_lanes_are_forgotten", NOT_UNDER_WAY, WAIT_FOR_EACH_OTHER)

    def test_due_tasks_are_noticed_by_those_who_wait(self):
        self.assert_found("due_tasks_are_noticed_by_those_who_wait", ANSWERED_EMPTY)

    def test_freed_memory_is_not_used(self):
        self.assert_found("freed_memory_is_not_used", NOT_UNDER_WAY)

    def test_empty_is_believed_for_long(self):
        self.assert_found("empty_is_believed_for_long", WAIT_FOR_EACH_OTHER)

    def test_first_caller_after_a_while_trusts_bounds(self):
        self.assert_found("first_caller_after_a_while_trusts_bounds",
                          "tasks are handed out for long while one that goes before them is not")

    def test_bounds_forget_what_was_lowered(self):
        self.assert_found("bounds_forget_what_was_lowered", SKIPPED)

    def test_announced_tasks_lower_no_bound(self):
        self.assert_found("announced_tasks_lower_no_bound", SKIPPED)

    def test_bound_passes_packs_that_others_hold(self):
        self.assert_found("bound_passes_packs_that_others_hold", SKIPPED)

    def test_packs_that_were_not_asked_for_are_forgotten(self):
        self.assert_found("packs_that_were_not_asked_for_are_forgotten", SKIPPED)

    def test_packs_that_a_probe_sees_are_not_looked_for(self):
        self.assert_found("packs_that_a_probe_sees_are_not_looked_for", SKIPPED)

    def test_probe_lowers_no_bound(self):
        self.assert_found("probe_lowers_no_bound", SKIPPED)

    def test_failed_probe_does_not_end(self):
        self.assert_found("failed_probe_does_not_end", WAIT_FOR_EACH_OTHER)

    def test_rescan_holds_up_probes(self):
        self.assert_found("rescan_holds_up_probes", WAIT_FOR_EACH_OTHER)

    def test_rescan_knows_what_came_beside_it(self):
        self.assert_found("rescan_knows_what_came_beside_it", SKIPPED)

    def test_unknown_lane_sets_no_alarm(self):
        self.assert_found("unknown_lane_sets_no_alarm", NOT_UNDER_WAY)

    def test_look_behind_the_bounds_tells_what_is_due(self):
        self.assert_found("look_behind_the_bounds_tells_what_is_due", PASSED_OVER)
