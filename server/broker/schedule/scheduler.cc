#include "server/broker/schedule/scheduler.h"

#include <algorithm>
#include <utility>

#include "server/broker/api/refusals.h"

namespace skiplane::broker {
namespace {

// In the caller's order, each queue once: other queues may come between two stages of it.
std::vector<std::string> PausedOf(const Ticket& ticket) {
  std::vector<std::string> paused;
  for (const Ticket::Entry& entry : ticket.entries) {
    const model::Queue& queue = *entry.state->queue;
    if (!queue.LeasesPaused()) continue;
    const bool is_named = std::find(paused.begin(), paused.end(), queue.name) != paused.end();
    if (!is_named) paused.push_back(queue.name);
  }
  return paused;
}

// Whether every lane stage had nothing for it, and has nothing still.
bool AllEmpty(const Ticket& ticket) {
  const auto has_nothing = [](const Ticket::Entry& entry) { return entry.state->HasNothing(); };
  return !ticket.entries.empty() && ticket.empty_entries == ticket.entries.size() &&
         std::all_of(ticket.entries.begin(), ticket.entries.end(), has_nothing);
}

// Who waited for less than this is not kept waiting for others to look with.
constexpr absl::Duration kShortWait = absl::Milliseconds(1200);

// Under its request id another broker may lease even after a look: for a call that the caller gave
// up and repeated here, or whose broker died. So a caller that is still there is told of nothing
// only if a last look, after its wait, finds nothing.
bool MayHaveLeased(const Ticket& ticket) {
  if (ticket.request_key.empty() || ticket.is_cancelled || ticket.IsSuperseded()) return false;
  return !ticket.IsFilling() && !ticket.is_over && ticket.state != Ticket::State::kDone;
}

}  // namespace

bool Scheduler::NoteEmpty(const Ticket::Place& place) {
  Ticket& ticket = *place.ticket;
  if (!std::exchange(ticket.entries[place.entry].is_empty, true)) ++ticket.empty_entries;
  return AllEmpty(ticket);
}

void Scheduler::Recover(LaneStageState& state) {
  if (state.error.ok()) return;
  state.error = absl::OkStatus();
  for (const Ticket::Place& place : state.at_once) {
    Ticket& ticket = *place.ticket;
    if (std::exchange(ticket.entries[place.entry].is_empty, false)) --ticket.empty_entries;
  }
}

void Scheduler::Admit(const TicketPtr& ticket, Step& step) {
  const bool answers_at_once = !ticket->waits || !ticket->request_key.empty();
  absl::Status refusal;
  if (is_draining_) {
    refusal = Draining();
  } else if (answers_at_once && full_.IsFor(ticket->call)) {
    refusal = TooManyCalls();
  } else {
    refusal = waiting_.Enter(*ticket);
  }
  if (!refusal.ok()) {
    ticket->state = Ticket::State::kDone;
    step.actions.push_back(Answer{ticket, std::move(refusal)});
    return;
  }
  if (ticket->waits) ticket->alarm = alarms_.Set(ticket->deadline, ticket);
  Start(ticket, step);
}

// A call with a request id gets what an earlier one with this id got. One that is on its way in
// this broker is superseded: its caller is gone, or it would not ask again.
void Scheduler::Start(const TicketPtr& ticket, Step& step) {
  if (ticket->request_key.empty()) {
    Enlist(ticket, step);
    return;
  }
  const auto [slot, is_first] = by_request_.try_emplace(ticket->request_key, ticket);
  if (!is_first) {
    const TicketPtr earlier = slot->second;
    if (earlier->successor != nullptr) {
      earlier->successor->is_over = true;
      FinishEmpty(earlier->successor, step);
    }
    earlier->successor = ticket;
    if (earlier->state == Ticket::State::kWaiting) FinishEmpty(earlier, step);
  } else if (ticket->wanted.size() > 1) {
    // The lane stage that serves it first need not be the one that served the earlier call.
    Find(ticket, /*is_urgent=*/true, step);
  } else {
    // A lease statement looks, if nobody did by then; and an index refuses a second lease.
    Enlist(ticket, step);
    if (ticket->state == Ticket::State::kDone || !ticket->waits) return;
    ++ticket->finds;
    step.actions.push_back(SendFind{ticket, /*is_urgent=*/false});
  }
}

void Scheduler::Find(const TicketPtr& ticket, bool is_urgent, Step& step) {
  ticket->state = Ticket::State::kFinding;
  ++ticket->finds;
  step.actions.push_back(SendFind{ticket, is_urgent});
}

void Scheduler::EndFind(const TicketPtr& ticket, absl::StatusOr<LeaseAnswer> found, Step& step) {
  --ticket->finds;
  ticket->was_sought |= found.ok();
  const bool has_found = found.ok() && !found->tasks.empty();
  if (ticket->state == Ticket::State::kWaiting) {
    if (has_found) Finish(ticket, std::move(found), step);
  } else if (ticket->state == Ticket::State::kFinding) {
    if (has_found || !found.ok()) {
      Finish(ticket, std::move(found), step);
    } else if (ticket->finds > 0) {
      return;  // another began later
    } else if (ticket->is_over) {
      Finish(ticket, std::exchange(ticket->held, {}), step);
    } else if (ticket->MustEnd() || ticket->IsFilling() || is_draining_) {
      ticket->is_over = true;
      FinishEmpty(ticket, step);
    } else {
      Enlist(ticket, step);
    }
  }
}

LaneStageState& Scheduler::StateOf(const Ticket::Wanted& wanted) {
  std::unique_ptr<LaneStageState>& state = states_[wanted.lane_stage];
  if (state == nullptr) state = std::make_unique<LaneStageState>(wanted.lane_stage);
  QueuePtr& latest = queues_[wanted.lane_stage.lane];
  if (latest == nullptr || latest->version < wanted.queue->version) latest = wanted.queue;
  state->queue = latest;
  return *state;
}

void Scheduler::Enter(const TicketPtr& ticket, Step& step) {
  ticket->keys = TurnKeysOf(ticket->call);
  const model::Queue* counted = nullptr;
  for (const Ticket::Wanted& wanted : ticket->wanted) {
    if (std::exchange(counted, wanted.queue.get()) != wanted.queue.get()) {
      Count(*ticket, wanted.queue->name);
    }
    LaneStageState& state = StateOf(wanted);
    if (state.waiting.empty()) state.Reopen(step.now);
    Ticket::Entry& entry = ticket->entries.emplace_back();
    entry.state = &state;
    state.Enter(ticket, &entry);
    if (ticket->wanted.size() > 1) ++state.shared_waiters;
  }
}

// Once for each queue, however many lane stages of it the call waits for.
void Scheduler::Count(Ticket& ticket, const std::string& queue) {
  int64_t* const calls = &calls_[queue];
  const auto found = std::find(ticket.counted.begin(), ticket.counted.end(), calls);
  if (found != ticket.counted.end()) return;
  ++*calls;
  ticket.counted.push_back(calls);
}

void Scheduler::Enlist(const TicketPtr& ticket, Step& step) {
  ticket->state = Ticket::State::kWaiting;
  if (ticket->entries.empty()) Enter(ticket, step);
  std::vector<LaneStageState*> states;  // the ticket may be answered, and lose its entries
  for (const Ticket::Entry& entry : ticket->entries) states.push_back(entry.state);
  for (LaneStageState* state : states) {
    if (ticket->state != Ticket::State::kDone) Advance(*state, step);
    // The call may have told that the queue is paused: then the lane stage blocks others no more.
    if (state->queue->LeasesPaused()) AdvanceNeighbours(*state, step);
  }
  if (!ticket->waits || ticket->call.began >= waits_ended_) return;
  ticket->is_expired = true;  // what it may have is to be asked for anew
  if (ticket->state == Ticket::State::kWaiting) FinishEmpty(ticket, step);
}

// Empty because there is nothing, or because a lane stage could not be asked, or was not asked yet
// by a caller that does not wait: then the caller is told so.
void Scheduler::FinishEmpty(const TicketPtr& ticket, Step& step) {
  if (is_draining_ && !ticket->waits && !AllEmpty(*ticket)) {
    Finish(ticket, Draining(), step);
    return;
  }
  for (const Ticket::Entry& entry : ticket->entries) {
    if (entry.state->error.ok() || is_draining_) continue;
    Finish(ticket, entry.state->error, step);
    return;
  }
  LeaseAnswer empty;
  empty.paused_queues = PausedOf(*ticket);
  if (!MayHaveLeased(*ticket)) return Finish(ticket, std::move(empty), step);
  Leave(*ticket);
  ticket->is_over = true;
  ticket->held = std::move(empty);
  const absl::Duration patience = std::min(kLastLookMax, ticket->call.last_look);
  if (ticket->waits) {
    alarms_.Cancel(ticket->alarm);
    ticket->alarm = alarms_.Set(step.now + absl::ToChronoNanoseconds(patience), ticket);
  }
  Find(ticket, /*is_urgent=*/patience < kLastLookMax || ticket->call.wait < kShortWait, step);
}

void Scheduler::Leave(Ticket& ticket) {
  for (const Ticket::Entry& entry : ticket.entries) {
    if (ticket.entries.size() > 1) --entry.state->shared_waiters;
    if (ticket.IsFilling()) --entry.state->filling;
    entry.state->Leave(ticket, entry);
  }
  ticket.entries.clear();
  ticket.empty_entries = 0;
  for (int64_t* const calls : ticket.counted) --*calls;
  ticket.counted.clear();
}

void Scheduler::Finish(const TicketPtr& ticket, absl::StatusOr<LeaseAnswer> answer, Step& step) {
  if (ticket->state == Ticket::State::kDone) return;
  ticket->state = Ticket::State::kDone;
  waiting_.Leave(*ticket);
  alarms_.Cancel(ticket->alarm);
  Leave(*ticket);
  LeaseAnswer held = std::exchange(ticket->held, {});
  const bool has_found = answer.ok() && !answer->tasks.empty();  // the held ones among them
  if (!held.tasks.empty() && !has_found && !ticket->is_cancelled) answer = std::move(held);
  step.actions.push_back(Answer{ticket, std::move(answer)});
  if (ticket->is_cancelled && ticket->request_key.empty() && !held.tasks.empty()) {
    HandBack orphans;
    for (const model::LeasedTask& task : held.tasks) orphans.tokens.push_back(task.token);
    step.actions.push_back(std::move(orphans));
  }
  if (ticket->request_key.empty()) return;
  const auto named = by_request_.find(ticket->request_key);
  if (named == by_request_.end() || named->second != ticket) return;
  const TicketPtr successor = std::exchange(ticket->successor, nullptr);
  if (successor != nullptr && successor->state != Ticket::State::kDone) {
    named->second = successor;
    Find(successor, /*is_urgent=*/true, step);
  } else {
    by_request_.erase(named);
  }
}

void Scheduler::Expire(const TicketPtr& ticket, Step& step) {
  if (ticket->state == Ticket::State::kWaiting) {
    FinishEmpty(ticket, step);
  } else if (ticket->is_over) {
    Finish(ticket, RepeatLater(), step);
  } else if (ticket->state != Ticket::State::kDone) {
    ticket->is_expired = true;
  }
}

void Scheduler::Cancel(const TicketPtr& ticket, Step& step) {
  ticket->is_cancelled |= ticket->state != Ticket::State::kDone;
  if (ticket->state == Ticket::State::kWaiting) FinishEmpty(ticket, step);
}

void Scheduler::BeginDrain(Step& step) {
  is_draining_ = true;
  EndWaits(step);
}

void Scheduler::EndWaits(Step& step) {
  waits_ended_ = step.now;
  std::vector<TicketPtr> waiting;
  for (const auto& [lane_stage, state] : states_) {
    state->waiting.ForEach([&waiting](const TicketPtr& ticket) {
      ticket->is_expired = true;
      if (ticket->state == Ticket::State::kWaiting) waiting.push_back(ticket);
    });
  }
  for (const TicketPtr& ticket : waiting) {  // once for each lane stage that it wants
    if (ticket->state == Ticket::State::kWaiting) FinishEmpty(ticket, step);
  }
}

void Scheduler::Tick(Step& step) {
  Alarms::Target target;
  while (alarms_.TakeDue(step.now, &target)) {
    if (const auto* ticket = std::get_if<TicketPtr>(&target)) {
      (*ticket)->alarm = 0;
      Expire(*ticket, step);
    } else {
      Wake(*states_.at(std::get<model::LaneStage>(target)), step);
    }
  }
}

int64_t Scheduler::WaitingCallsAt(model::LaneStage lane_stage) const {
  const auto found = states_.find(lane_stage);
  return found == states_.end() ? 0 : found->second->waiting.size();
}

}  // namespace skiplane::broker
