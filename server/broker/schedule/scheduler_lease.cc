#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "server/base/reason.h"
#include "server/broker/schedule/scheduler.h"
#include "server/model/limits.h"

namespace skiplane::broker {
namespace {

constexpr int kConflictsMax = 10;
constexpr int64_t kTurnTasksMax = 100;  // of a large backlog, while several principals wait

// Again and again something was leased under the request id and settled before it was found.
absl::Status RequestTaken() {
  return base::Refuse(absl::StatusCode::kAborted, "TRANSACTION_CONFLICT",
                      "other calls lease under this request_id at the same time; repeat the call");
}

absl::Duration Remaining(base::SteadyTime lives_until, base::SteadyTime now) {
  return absl::FromChrono(lives_until - now);
}

// How many tasks are left for those who have not waited: what is believed to be there, less what
// is wanted by others who wait already.
int64_t SpareIn(const LaneStageState& state) {
  int64_t spare = std::min<int64_t>(state.belief.count(), 2 * model::kBatchRowsMax);
  state.waiting.AnyOf([&](const TicketPtr& ticket) {
    if (ticket->state == Ticket::State::kWaiting) spare -= ticket->RoomIn(state.lane_stage);
    return spare <= 0;
  });
  return std::min<int64_t>(spare, model::kBatchRowsMax);
}

// All of them are callers, also those for whom nothing is left.
Dealt DealAmong(const std::vector<TicketPtr>& tickets, model::LaneStage lane_stage, int64_t count) {
  Turns turns;
  std::vector<Ticket::Entry> entries(tickets.size());
  for (size_t i = 0; i < tickets.size(); ++i) {
    tickets[i]->keys = TurnKeysOf(tickets[i]->call);
    turns.Add(tickets[i], 0, &entries[i]);
  }
  Dealt dealt = turns.Deal(
      count, 1, [&](const Ticket::Place& place) { return place.ticket->RoomIn(lane_stage); });
  const absl::flat_hash_set<TicketPtr> taking(dealt.callers.begin(), dealt.callers.end());
  for (const TicketPtr& ticket : tickets) {
    if (taking.contains(ticket)) continue;
    dealt.callers.push_back(ticket);
    dealt.counts.push_back(0);
  }
  return dealt;
}

// The statement takes tasks that are believed to be there.
void Ask(LaneStageState& state, LeaseRun& run) {
  run.demand.has_packs = state.has_packs;
  run.demand.bounds = state.bounds.Current();
  run.snapshot = state.bounds.Begin();
  run.announced_before = state.belief.announced();
  run.hints_before = state.hints;
  state.idle_until = {};
  state.belief.Asked(std::ssize(run.demand.slots));
}

// It took nothing, and says nothing of what is there. A hand-off has not asked for that.
void Unask(LaneStageState& state, const LeaseRun& run) {
  if (run.kind == LeaseRun::Kind::kHandOff) return;
  state.bounds.End(run.snapshot, {});
  state.belief.Unasked(std::ssize(run.demand.slots));
}

}  // namespace

// Who has a turn now, with how many tasks; also calls that hold some already, if it `fills` them.
// With a large backlog a call is served fully at once, but in parts while other principals wait;
// few tasks are spread over all.
Dealt Scheduler::Deal(LaneStageState& state, int64_t count_max, bool fills,
                      base::SteadyTime now) const {
  int64_t turn_max = 1;
  if (count_max == model::kBatchRowsMax) {
    turn_max = state.waiting.HasSeveralPrincipals() ? kTurnTasksMax : model::kBatchRowsMax;
  }
  return state.waiting.Deal(count_max, turn_max, [&](const Ticket::Place& place) {
    const Ticket& ticket = *place.ticket;
    const bool may_serve = MayServe(place, state, now) && (fills || !ticket.IsFilling());
    return may_serve ? ticket.RoomIn(state.lane_stage) : 0;
  });
}

// From now on this lane stage serves these callers.
LeaseRun Scheduler::RunOf(LaneStageState& state, Dealt dealt) {
  LeaseRun run;
  run.lane_stage = state.lane_stage;
  run.queue = state.queue;
  run.demand.lane = state.lane_stage.lane;
  run.demand.stage = state.lane_stage.stage;
  for (const TicketPtr& ticket : dealt.callers) {
    ticket->state = Ticket::State::kServing;
    store::LeaseCaller& caller = run.demand.callers.emplace_back();
    caller.max_bytes = ticket->call.max_bytes - ticket->held_bytes;
    caller.holds_tasks = ticket->IsFilling();
    caller.request_id = ticket->RequestIdIn(state.lane_stage);
  }
  run.demand.slots = SlotsOf(dealt);
  run.tickets = std::move(dealt.callers);
  run.turns = std::move(dealt.turns);
  run.lives_until.resize(run.tickets.size());
  return run;
}

LeaseRun Scheduler::BeginLease(model::LaneStage lane_stage, Step& step) {
  LaneStageState& state = *states_.at(lane_stage);
  LeaseRun run;
  run.lane_stage = lane_stage;
  const bool may_run = !state.queue->LeasesPaused() && !full_.for_all;
  const int64_t count_max = std::min<int64_t>(state.belief.count(), model::kBatchRowsMax);
  Dealt dealt;
  if (state.MayLease() && may_run) dealt = Deal(state, count_max, true, step.now);
  if (!dealt.callers.empty()) {
    run = RunOf(state, std::move(dealt));
    if (std::ssize(run.demand.slots) == state.belief.count()) AskForOneMore(run);
    Ask(state, run);
    for (const TicketPtr& ticket : run.tickets) {
      if (ticket->request_key.empty() || std::exchange(ticket->was_sought, true)) continue;
      run.unsought.push_back(ticket->RequestIdIn(lane_stage));
    }
  } else {
    --state.leases_running;
    Advance(state, step);
  }
  AdvanceFilling(state, step);
  AdvanceNeighbours(state, step);
  return run;
}

void Scheduler::EndLease(LeaseRun& run, absl::StatusOr<store::Leased> leased, Step& step) {
  LaneStageState& state = *states_.at(run.lane_stage);
  if (run.kind == LeaseRun::Kind::kStatement) --state.leases_running;
  state.waiting.GiveBack(run.turns, CountPerCaller(run, leased));
  if (leased.ok() && run.kind == LeaseRun::Kind::kHandOff) {
    Deliver(run, *std::move(leased), step);  // it says nothing of what was there before
  } else if (leased.ok()) {
    Recover(state);
    const bool took_all = TookAll(run, *leased, state.hints);
    state.idle_until = took_all ? step.now + LaneStageState::kIdle : base::SteadyTime();
    const bool was_raised = state.bounds.IsRaised();
    state.bounds.End(run.snapshot, LastKeys(run, leased->rows));
    for (const store::Bound& pack : leased->held_back) state.bounds.LowerTo(pack);
    if (run.demand.has_packs) state.LookedForPacks(leased->saw_packs, run.hints_before);
    state.belief.Leased(std::ssize(run.demand.slots), std::ssize(leased->rows),
                        MayHaveLeftSome(run, *leased), run.announced_before);
    if (!was_raised) {
      state.rescan_due = std::max<base::SteadyTime>(state.rescan_due,
                                                    step.now + LaneStageState::kRescanEvery);
    }
    Deliver(run, *std::move(leased), step);
  } else if (absl::IsAlreadyExists(leased.status())) {
    Unask(state, run);
    Collided(run, step);
  } else {
    if (run.kind != LeaseRun::Kind::kHandOff) state.bounds.Fail(run.snapshot);
    Failed(run, leased.status(), step);
  }
  Advance(state, step);
  AdvanceNeighbours(state, step);
  AdvanceAllOf(run, step);
}

// While one lane stage served them, others that they want may have got tasks, and could not serve
// them.
void Scheduler::AdvanceAllOf(const LeaseRun& run, Step& step) {
  std::set<model::LaneStage> lane_stages;
  for (const TicketPtr& ticket : run.tickets) {
    if (ticket->state != Ticket::State::kWaiting || ticket->entries.size() < 2) continue;
    for (const Ticket::Entry& entry : ticket->entries) {
      // Who does not wait is also to hear of those that have none.
      if (!ticket->waits || entry.state->MayLease()) lane_stages.insert(entry.state->lane_stage);
    }
  }
  for (const model::LaneStage lane_stage : lane_stages) Advance(*states_.at(lane_stage), step);
}

void Scheduler::Deliver(const LeaseRun& run, store::Leased leased, Step& step) {
  LaneStageState& state = *states_.at(run.lane_stage);
  std::vector<LeaseAnswer> answers(run.tickets.size());
  for (store::LeasedRow& row : leased.rows) {
    NameQueue(*state.queue, row.task);
    answers[static_cast<size_t>(row.caller)].tasks.push_back(std::move(row.task));
  }
  for (size_t i = 0; i < run.tickets.size(); ++i) {
    answers[i].lease_remaining = Remaining(run.lives_until[i], step.now);
    if (!run.IsReservation()) {
      DeliverTo(run.tickets[i], state, std::move(answers[i]), step);
    } else if (answers[i].tasks.empty()) {
      step.actions.push_back(Decline{run.tickets[i]});
    } else {
      FillReserved(run.tickets[i], state, std::move(answers[i]), step);
    }
  }
}

// Ends a ticket's service by a lane stage, with tasks or without.
void Scheduler::DeliverTo(const TicketPtr& ticket, const LaneStageState& state,
                          LeaseAnswer answer, Step& step) {
  ticket->state = Ticket::State::kWaiting;
  if (!answer.tasks.empty() || ticket->IsFilling()) {
    Fill(ticket, state, std::move(answer), step);
  } else if (ticket->MustEnd()) {
    FinishEmpty(ticket, step);  // else a probe tells: others may hold rows that they do not take
  }
}

// Nothing was leased. Callers that wait go on waiting: the database may come back in time.
void Scheduler::Failed(const LeaseRun& run, const absl::Status& status, Step& step) {
  LaneStageState& state = *states_.at(run.lane_stage);
  state.Failed(status, step.now);
  state.belief.Forget();
  for (const TicketPtr& ticket : run.tickets) {
    if (!run.unsought.empty()) ticket->was_sought = false;
    if (run.IsReservation()) {
      step.actions.push_back(Decline{ticket});
      continue;
    }
    ticket->state = Ticket::State::kWaiting;
    if (ticket->is_cancelled || ticket->IsSuperseded()) {
      FinishEmpty(ticket, step);
    } else if (ticket->IsFilling()) {
      Fill(ticket, state, {}, step);
    } else if (ticket->is_expired || !ticket->waits) {
      Finish(ticket, status, step);
    }
  }
}

// Nothing was leased, because something is leased under a request id of the callers. Whoever has
// one that is taken looks, also if its wait is over; the others go on waiting.
void Scheduler::Collided(const LeaseRun& run, Step& step) {
  for (const TicketPtr& ticket : run.tickets) {
    ticket->state = Ticket::State::kWaiting;
    const bool may_be_taken = MayBeTaken(run, *ticket);
    const bool is_over = ticket->is_expired && !may_be_taken;
    // Of one that is superseded the repeat looks for itself.
    if (ticket->is_cancelled || ticket->IsSuperseded() || is_over) {
      FinishEmpty(ticket, step);
    } else if (!may_be_taken) {
      continue;
    } else if (++ticket->conflicts == kConflictsMax) {
      Finish(ticket, RequestTaken(), step);
    } else {
      Leave(*ticket);
      Find(ticket, /*is_urgent=*/true, step);
    }
  }
}

std::optional<model::LaneStage> Scheduler::FindReservable(const Ticket& ticket, int64_t lane,
                                                          base::SteadyTime now) const {
  const bool is_repeat = !ticket.request_key.empty() && by_request_.contains(ticket.request_key);
  if (is_draining_ || full_.IsFor(ticket.call) || is_repeat) return std::nullopt;
  for (const Ticket::Wanted& wanted : ticket.wanted) {
    const auto found = states_.find(wanted.lane_stage);
    if (found == states_.end()) return std::nullopt;  // it is to be probed before any behind it
    const LaneStageState& known = *found->second;
    if (wanted.lane_stage.lane == lane && known.MayLease() && !known.queue->LeasesPaused() &&
        SpareIn(known) > 0) {
      // Whoever is in the list has it rescanned; reservations alone would not.
      if (known.IsRescanDue(now)) return std::nullopt;
      return wanted.lane_stage;
    }
    if (known.BlocksLater(now)) return std::nullopt;
  }
  return std::nullopt;
}

// What is left goes to these calls by the rule for those that wait. They are in no list, and so
// take no turn of it.
LeaseRun Scheduler::Reserve(model::LaneStage lane_stage, std::vector<TicketPtr> tickets,
                            Step& step) {
  LaneStageState& state = *states_.at(lane_stage);
  LeaseRun run = RunOf(state, DealAmong(tickets, lane_stage, SpareIn(state)));
  Ask(state, run);
  run.kind = LeaseRun::Kind::kReservation;
  run.turns.clear();
  AdvanceFilling(state, step);
  AdvanceNeighbours(state, step);
  return run;
}

// Nothing was leased, and nobody is to hear of it.
void Scheduler::Withdraw(const LeaseRun& run, Step& step) {
  LaneStageState& state = *states_.at(run.lane_stage);
  Unask(state, run);
  for (const TicketPtr& ticket : run.tickets) step.actions.push_back(Decline{ticket});
  Advance(state, step);
}

}  // namespace skiplane::broker
