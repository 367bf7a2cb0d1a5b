#include <algorithm>
#include <utility>

#include "server/broker/api/refusals.h"
#include "server/broker/schedule/scheduler.h"
#include "server/model/limits.h"
#include "server/store/queues.h"

namespace skiplane::broker {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds kProbePause(25);     // between two probes while it stays unknown
constexpr seconds kProbePauseMost(4);       // also if probes are slow: else nobody would be served
constexpr seconds kRescanPauseMost(30);     // likewise, if it passes millions of dead rows
constexpr seconds kEmptyListening(4);       // empty is believed while notifications are heard
constexpr seconds kEmptyDeaf(1);            // and while they are not
constexpr int64_t kSecondLeaseTasks = 128;  // that a second statement beside the first needs

// What a probe saw. Others beside it may have seen, or heard, what it did not.
void Learn(LaneStageState& state, const ProbeStart& start, const ProbeResult& seen,
           base::SteadyTime empty_until) {
  const bool is_newest = state.bounds.unread() == start.unread_before;
  const bool is_alone = is_newest && state.hints == start.hints_before;
  if (start.from.empty() && is_newest) {
    state.bounds.SetPriorities(seen.priorities, !is_alone);
    state.knows_next_due = state.forgotten_dues == start.forgotten_dues_before;
  }
  for (const store::Bound& ready : seen.first_ready) state.bounds.LowerTo(ready);
  if (seen.has_packs) state.has_packs = true;
  if (seen.ready > 0 || (is_alone && !start.is_rescan)) {
    state.belief.Probed(start.announced_before, seen.ready, empty_until);
  }
  if (seen.ready > 0) ++state.hints;
  if (!seen.next_due_in.has_value()) return;
  const auto due = start.began + absl::ToChronoNanoseconds(*seen.next_due_in);
  state.next_due = std::min(state.next_due, due);
}

}  // namespace

void Scheduler::Committed(absl::Span<const store::UnleasedTasks> unleased, absl::Time now,
                          Step& step) {
  for (const store::UnleasedTasks& tasks : unleased) {
    const auto found = states_.find({tasks.lane, tasks.stage});
    if (found == states_.end()) continue;  // nobody ever waited there: the first probe finds them
    LaneStageState& state = *found->second;
    state.Announced(tasks);
    if (!tasks.is_ready) {
      const auto due = step.now + absl::ToChronoNanoseconds(tasks.schedule_time - now);
      state.next_due = std::min(state.next_due, due);
    }
    Advance(state, step);
  }
}

void Scheduler::Notified(const model::Notification& notification, Step& step) {
  const auto found = states_.find({notification.lane, notification.stage});
  if (found == states_.end()) return;
  LaneStageState& state = *found->second;
  state.Announced({notification.lane, notification.stage, notification.priority,
                  notification.is_ready, notification.count, notification.schedule_time,
                  notification.count >= model::kPackTasksLeast});
  if (!notification.is_ready) {
    state.belief.Invalidate();
    state.ForgetNextDue();  // when they are due, a probe tells
  }
  Advance(state, step);
}

void Scheduler::QueueChanged(const QueuePtr& queue, Step& step) {
  for (const int64_t number : queue->lanes) {
    QueuePtr& latest = queues_[number];
    if (latest != nullptr && latest->version > queue->version) continue;  // told out of order
    latest = queue;
    for (int16_t stage = 0; stage < queue->settings.StageCount(); ++stage) {
      const auto found = states_.find({number, stage});
      if (found == states_.end()) continue;
      found->second->queue = queue;
      Advance(*found->second, step);
      AdvanceNeighbours(*found->second, step);
    }
  }
}

// A statement that runs ends with nothing; its lane stage stays until then, and is small.
void Scheduler::QueueGone(const QueuePtr& queue, Step& step) {
  std::vector<TicketPtr> waiting;
  for (const int64_t number : queue->lanes) {
    queues_.erase(number);
    for (int16_t stage = 0; stage < queue->settings.StageCount(); ++stage) {
      const auto found = states_.find({number, stage});
      if (found == states_.end()) continue;
      found->second->waiting.ForEach([&waiting](const TicketPtr& ticket) {
        if (ticket->state == Ticket::State::kWaiting) waiting.push_back(ticket);
      });
    }
  }
  for (const TicketPtr& ticket : waiting) Finish(ticket, store::QueueNotFound(queue->name), step);
}

// Notifications sent while disconnected were missed.
void Scheduler::SetListening(bool is_listening, Step& step) {
  is_listening_ = is_listening;
  for (const auto& [lane_stage, state] : states_) {
    state->Invalidate();
    Advance(*state, step);
  }
}

// A caller with several queues is served by a later one only when the earlier ones have nothing.
// The nearest that may have something is told: while thousands are asked for the first time, that
// is the one before, and each end of a probe concerns few.
bool Scheduler::MayServe(const Ticket::Place& place, const LaneStageState& state,
                         base::SteadyTime now, LaneStageState** blocker) const {
  const Ticket& ticket = *place.ticket;
  if (ticket.state != Ticket::State::kWaiting || full_.IsFor(ticket.call)) return false;
  if (ticket.IsFilling()) return NextToFill(ticket) == &state;
  for (size_t i = place.entry; i-- > 0;) {
    LaneStageState* const before = ticket.entries[i].state;
    if (!before->BlocksLater(now)) continue;
    if (blocker != nullptr) *blocker = before;
    return false;
  }
  return true;
}

// While memory is full for all, thousands would be asked in vain.
TicketPtr Scheduler::NextServed(const LaneStageState& state, base::SteadyTime now,
                                Blockers* blockers) const {
  TicketPtr served;
  const auto look = [&](const Ticket::Place& place) {
    LaneStageState* blocker = nullptr;
    if (MayServe(place, state, now, &blocker)) served = place.ticket;
    if (blocker != nullptr) blockers->insert(blocker);
    return served != nullptr;
  };
  if (!full_.for_all) state.waiting.AnyPlace(look);
  return served;
}

// Whatever the lane stage needs next. Safe to call at any time.
void Scheduler::Advance(LaneStageState& state, Step& step) {
  if (state.waiting.empty()) return;
  DoNext(state, step);
  AdvanceFilling(state, step);
}

void Scheduler::DoNext(LaneStageState& state, Step& step) {
  state.Due(step.now);
  if (state.queue->LeasesPaused()) {
    step.actions.push_back(TellHeldBack{state.queue, state.lane_stage, "the queue is paused"});
    MarkEmpty(state, step);
    return;
  }
  if (state.IsRescanDue(step.now)) Probe(state, step);
  if (state.MayLease() && full_.IsAny()) WaitForMemory(state, step);
  if (state.MayLease()) {
    // The second one takes no connection that others would have to wait for.
    const bool may_double = state.belief.count() >= kSecondLeaseTasks && step.has_spare;
    const bool may_run = state.leases_running < (may_double ? 2 : 1);
    Blockers blockers;
    const TicketPtr served = may_run ? NextServed(state, step.now, &blockers) : nullptr;
    if (served != nullptr) {
      ++state.leases_running;
      step.actions.push_back(SendLease{state.lane_stage, served->call.party});
    } else {
      for (LaneStageState* const each : blockers) each->blocks.insert(state.lane_stage);
    }
  } else if (state.NeedsProbe(step.now)) {
    if (state.leases_running == 0 && state.probe_allowed <= step.now) Probe(state, step);
  } else {
    MarkEmpty(state, step);
  }
  Arm(state);
}

// Other lane stages may serve the callers of one that blocks them no more: to be called after
// whatever may have ended that. Those that could not serve theirs are known, and mostly none: the
// callers may be thousands, and are not looked at.
void Scheduler::AdvanceNeighbours(LaneStageState& state, Step& step) {
  if (state.blocks.empty() || state.shared_waiters == 0 || state.BlocksLater(step.now)) return;
  for (const model::LaneStage each : std::exchange(state.blocks, {})) {
    Advance(*states_.at(each), step);
  }
}

// Callers that wait go on waiting until they, or others, have read their answers.
void Scheduler::WaitForMemory(LaneStageState& state, Step& step) {
  const auto is_held_back = [this](const TicketPtr& ticket) { return full_.IsFor(ticket->call); };
  if (!state.waiting.AnyOf(is_held_back)) return;
  std::vector<TicketPtr> refused;
  for (const auto& [ticket, entry] : state.at_once) {
    if (ticket->state != Ticket::State::kWaiting) continue;
    if (is_held_back(ticket)) refused.push_back(ticket);
  }
  step.actions.push_back(
      TellHeldBack{state.queue, state.lane_stage, "callers have not read what was leased before"});
  wait_for_memory_.insert(state.lane_stage);
  for (const TicketPtr& ticket : refused) Finish(ticket, TooManyCalls(), step);
}

void Scheduler::MemoryFreed(Step& step) {
  for (const model::LaneStage lane_stage : std::exchange(wait_for_memory_, {})) {
    Advance(*states_.at(lane_stage), step);
  }
}

// Nothing is there for now: callers that do not wait are answered when that is so of all their lane
// stages.
void Scheduler::MarkEmpty(LaneStageState& state, Step& step) {
  std::vector<TicketPtr> finished;
  for (const Ticket::Place& place : state.at_once) {
    if (place.ticket->state != Ticket::State::kWaiting) continue;
    if (NoteEmpty(place)) finished.push_back(place.ticket);
  }
  for (const TicketPtr& ticket : finished) FinishEmpty(ticket, step);
}

// One alarm per lane stage, for whatever comes first of its own accord.
void Scheduler::Arm(LaneStageState& state) {
  base::SteadyTime at = base::SteadyTime::max();
  if (!state.waiting.empty() && !state.queue->LeasesPaused()) {
    at = state.next_due;
    const bool may_probe = !state.is_probing;
    if (may_probe && !state.MayLease() && state.leases_running == 0) {
      const bool is_read = state.bounds.IsRead();
      const auto unknown_from = is_read ? state.belief.empty_until() : base::SteadyTime();
      at = std::min(at, std::max(unknown_from, state.probe_allowed));
    }
    if (may_probe && state.bounds.IsRaised() && !state.is_rescanning) {
      at = std::min(at, state.RescanAt());
    }
  }
  if (at == state.alarm_at) return;
  alarms_.Cancel(state.alarm);
  state.alarm_at = at;
  state.alarm = at == base::SteadyTime::max() ? 0 : alarms_.Set(at, state.lane_stage);
}

void Scheduler::Wake(LaneStageState& state, Step& step) {
  state.alarm = 0;
  state.alarm_at = base::SteadyTime::max();
  Advance(state, step);
}

// One at a time.
void Scheduler::Probe(LaneStageState& state, Step& step) {
  if (std::exchange(state.is_probing, true)) return;
  step.actions.push_back(SendProbe{state.lane_stage});
}

// A rescan may take seconds, and what is to be known at once does not wait for it.
ProbeStart Scheduler::BeginProbe(model::LaneStage lane_stage, Step& step) {
  LaneStageState& state = *states_.at(lane_stage);
  ProbeStart start{step.now, state.belief.announced(), state.hints, state.forgotten_dues,
                   state.bounds.unread(), {}};
  if (state.MayLookAhead() && state.IsRescanDue(step.now)) {
    start.is_rescan = state.is_rescanning = true;
    state.is_probing = false;
    Advance(state, step);
    AdvanceNeighbours(state, step);
    return start;
  }
  std::vector<store::Bound> from = state.bounds.LookFrom();
  if (state.MayLookAhead()) start.from = std::move(from);
  return start;
}

void Scheduler::EndProbe(model::LaneStage lane_stage, const ProbeStart& start,
                         const absl::StatusOr<ProbeResult>& seen, Step& step) {
  LaneStageState& state = *states_.at(lane_stage);
  (start.is_rescan ? state.is_rescanning : state.is_probing) = false;
  const std::chrono::nanoseconds cost = step.now - start.began;
  const std::chrono::nanoseconds pause = ProbeBudget::kShare * cost;
  const base::SteadyTime routine_at = probe_budget_.Take(step.now, cost);
  if (start.from.empty()) {
    const auto rescan_pause = std::clamp<std::chrono::nanoseconds>(
        pause, LaneStageState::kRescanEvery, kRescanPauseMost);
    state.rescan_due = std::max(step.now + rescan_pause, routine_at);
  }
  if (seen.ok()) {
    Recover(state);
    const auto listening = is_listening_ ? kEmptyListening : kEmptyDeaf;
    Learn(state, start, *seen, std::max(step.now + listening, routine_at));
  } else if (!start.is_rescan) {  // if all others fail, too, they say so
    state.Failed(seen.status(), step.now);
    MarkEmpty(state, step);
  }
  if (seen.ok() && !start.is_rescan) {
    state.probe_allowed = step.now + std::clamp<std::chrono::nanoseconds>(pause, kProbePause,
                                                                          kProbePauseMost);
  }
  Advance(state, step);
  AdvanceNeighbours(state, step);
}

}  // namespace skiplane::broker
