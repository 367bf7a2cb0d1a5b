"""Faults to be planted in a copy of the scheduler, one at a time: mutants.py NAME FOLDER

Without arguments it prints the names. A fault is a list of replacements: a file, a text of it, and
what takes its place. A text that is not there once is an error: the scheduler has changed, and the
fault has to be planted anew.
"""

import pathlib
import shutil
import sys

ROOM = "server/broker/schedule"
SOURCES = pathlib.Path(__file__).resolve().parents[3] / ROOM

CALLS, LANE, LEASE = "scheduler.cc", "scheduler_lane.cc", "scheduler_lease.cc"
FILL, HAND_OFF = "scheduler_fill.cc", "scheduler_hand_off.cc"
BOUNDS, STATE, TURNS = "bounds.cc", "lane_stage_state.h", "turns.cc"

MUTANTS = {
    # Calls.
    "deadline_without_alarm": [
        (CALLS, "  if (ticket->waits) ticket->alarm = alarms_.Set(ticket->deadline, ticket);\n",
                "")],
    "expiry_while_serving_is_forgotten": [
        (CALLS, "Ticket::State::kDone) {\n    ticket->is_expired = true;\n",
                "Ticket::State::kDone) {\n")],
    "successor_is_not_started": [
        (CALLS, "    Find(successor, /*is_urgent=*/true, step);\n", "")],
    "repeat_is_told_of_nothing_without_a_last_look": [
        (CALLS, "  return !ticket.IsFilling() && !ticket.is_over &&",
                "  return ticket.is_over && ticket.is_gone &&")],
    "calls_finish_twice": [
        (CALLS, "  if (ticket->state == Ticket::State::kDone) return;\n  ticket->state =",
                "  ticket->state =")],
    "empty_lanes_stay_empty": [
        (CALLS, "return entry.state->HasNothing();", "return &entry != nullptr;")],
    "first_caller_after_a_while_trusts_bounds": [
        (CALLS, "    if (state.waiting.empty()) state.Reopen(step.now);\n", "")],

    # Lease statements.
    "cancelled_call_is_answered_with_tasks": [
        (CALLS, "!has_found && !ticket->is_cancelled)", "!has_found)")],
    "orphans_are_not_handed_back": [
        (CALLS, "step.actions.push_back(std::move(orphans));", "orphans = {};")],
    "reservation_is_not_declined": [
        (LEASE, "    } else if (answers[i].tasks.empty()) {\n"
                "      step.actions.push_back(Decline{run.tickets[i]});\n"
                "    } else {",
                "    } else if (!answers[i].tasks.empty()) {")],
    "statement_without_callers_stays_open": [
        (LEASE, "    --state.leases_running;\n    Advance(state, step);\n",
                "    Advance(state, step);\n")],
    "lanes_of_served_callers_are_not_asked": [
        (LEASE, "  AdvanceAllOf(run, step);\n", "")],

    # Turns.
    "last_come_first_served": [
        (TURNS, "  worker.calls.push_back({ticket, index});",
                "  worker.calls.push_front({ticket, index});"),
        (TURNS, "std::prev(worker.calls.end())", "worker.calls.begin()")],
    "turns_go_by_calls": [
        (TURNS, "  return {principal, std::hash<std::string>()(call.worker_id)",
                "  return {0, 0 * std::hash<std::string>()(call.worker_id)")],
    "turns_go_by_workers": [
        (TURNS, "  return {principal, ", "  return {0, ")],
    "principal_keeps_its_turn": [
        (TURNS, "    Move(turns_.principals_, number, principal);\n", "")],
    "worker_keeps_its_turn": [
        (TURNS, "    Move(principal.workers, number, worker);\n", "")],
    "turns_that_brought_nothing_are_taken": [
        (LEASE, "  state.waiting.GiveBack(run.turns, CountPerCaller(run, leased));\n", "")],

    # Calls that are filled from several lanes.
    "call_that_holds_tasks_waits": [
        (FILL, "ticket->MustEnd() || NextToFill(*ticket) == nullptr", "ticket->MustEnd()")],
    "what_a_call_holds_is_lost": [
        (CALLS, "answer = std::move(held);", "held = {};")],
    "call_is_answered_with_its_first_part": [
        (FILL, "ticket->MustEnd() || NextToFill(*ticket) == nullptr", "true")],

    # Hand-offs.
    "hand_off_beside_tasks_that_are_known": [
        (HAND_OFF, "return is_empty && state.bounds.IsRead() && state.leases_running == 0;",
                   "return is_empty || state.bounds.IsRead();")],
    "hand_off_without_tasks_keeps_its_callers": [
        (LEASE, "    Deliver(run, *std::move(leased), step);  // it",
                "    if (!leased->rows.empty()) Deliver(run, *std::move(leased), step);  // it")],

    # Packs.
    "bound_passes_packs_that_others_hold": [
        (LEASE, "    for (const store::Bound& pack : leased->held_back) "
                "state.bounds.LowerTo(pack);\n", "")],
    "packs_that_were_not_asked_for_are_forgotten": [
        (STATE, "    if (!saw_some && hints == hints_before) has_packs = false;\n",
                "    if (!saw_some || hints == hints_before) has_packs = false;\n")],
    "packs_that_a_probe_sees_are_not_looked_for": [
        (LANE, "  if (seen.has_packs) state.has_packs = true;\n", "")],

    # Lanes.
    "paused_queue_asks_nobody": [
        (LANE, "      AdvanceNeighbours(*found->second, step);\n", ""),
        (LANE, "state.shared_waiters == 0 || state.BlocksLater(step.now)) return;",
               "state.shared_waiters == 0 || state.belief.count() > 0) return;"),
        (LEASE, "  AdvanceNeighbours(state, step);\n  return run;\n}\n\nvoid Scheduler::EndLease",
                "  return run;\n}\n\nvoid Scheduler::EndLease")],
    "blocked_lanes_are_forgotten": [
        (LANE, "each->blocks.insert(state.lane_stage);", "each->blocks.clear();")],
    "due_tasks_are_noticed_by_those_who_wait": [
        (LANE, "  state.Due(step.now);\n", ""),
        (LANE, "  state.alarm = 0;\n", "  state.alarm = 0;\n  state.Due(step.now);\n")],
    "freed_memory_is_not_used": [
        (LANE, "  wait_for_memory_.insert(state.lane_stage);\n", "")],
    "empty_is_believed_for_long": [
        (LANE, "kEmptyListening(4)", "kEmptyListening(8)")],
    "failed_probe_does_not_end": [
        (LANE, "  (start.is_rescan ? state.is_rescanning : state.is_probing) = false;\n",
               "  if (seen.ok()) state.is_probing = state.is_rescanning = false;\n")],
    "look_behind_the_bounds_tells_what_is_due": [
        (STATE, "return bounds.IsRead() && bounds.IsRaised() && knows_next_due; }",
                "return bounds.IsRead() && bounds.IsRaised(); }")],
    "rescan_holds_up_probes": [
        (LANE, "    state.is_probing = false;\n    Advance(state, step);\n",
               "    Advance(state, step);\n"),
        (LANE, "  (start.is_rescan ? state.is_rescanning : state.is_probing) = false;\n",
               "  state.is_probing = false;\n"
               "  if (start.is_rescan) state.is_rescanning = false;\n")],
    "rescan_knows_what_came_beside_it": [
        (LANE, "const bool is_newest = state.bounds.unread() == start.unread_before;",
               "const bool is_newest = true;"),
        (LANE, "is_newest && state.hints == start.hints_before;", "is_newest;")],
    "unknown_lane_sets_no_alarm": [
        (LANE, "at = std::min(at, std::max(unknown_from, state.probe_allowed));", "")],
    "probe_lowers_no_bound": [
        (LANE, "for (const store::Bound& ready : seen.first_ready) state.bounds.LowerTo(ready);",
               "")],
    "announced_tasks_lower_no_bound": [
        (STATE, "    bounds.Lower(unleased.priority, unleased.schedule_time);\n", "")],
    "bounds_forget_what_was_lowered": [
        (BOUNDS, "if (least != opened->second.end()) key = std::min(key, least->second);", "")],
}


def plant(name, folder, sources=SOURCES):
    """Writes the files that the fault changes below `folder`, as they are included, and planted.cc
    to be linked before the room's library: the sources that are changed, or use such a header."""
    changed = {}
    for file, text, instead in MUTANTS[name]:
        before = changed.get(file) or pathlib.Path(sources, file).read_text(encoding="utf-8")
        if before.count(text) != 1:
            sys.exit(f"mutants.py: {name}: {file} has {before.count(text)} times, not once:\n"
                     f"{text}")
        changed[file] = before.replace(text, instead)
    room = pathlib.Path(folder, ROOM)
    shutil.rmtree(room, ignore_errors=True)
    room.mkdir(parents=True)
    for file, text in changed.items():
        (room / file).write_text(text, encoding="utf-8")
    is_header_changed = any(file.endswith(".h") for file in changed)
    units = [path.name for path in pathlib.Path(sources).glob("*.cc")
             if is_header_changed or path.name in changed]
    text = "".join(f'#include "{ROOM}/{unit}"\n' for unit in sorted(units))
    pathlib.Path(folder, "planted.cc").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) == 1:
        print("\n".join(MUTANTS))
    else:
        plant(*sys.argv[1:])
