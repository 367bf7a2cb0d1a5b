#include <algorithm>
#include <utility>

#include "server/broker/api/refusals.h"
#include "server/broker/schedule/scheduler.h"

namespace skiplane::broker {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds kProbePause(25);     // between two probes of a lane that stays unknown
constexpr seconds kProbePauseMost(4);       // also if probes are slow: else nobody would be served
constexpr seconds kEmptyListening(4);       // an empty lane while notifications are heard
constexpr seconds kEmptyDeaf(1);            // and while they are not
constexpr int64_t kSecondLeaseTasks = 128;  // that a second statement beside the first needs

}  // namespace

void Scheduler::Committed(absl::Span<const store::UnleasedTasks> unleased, absl::Time now,
                          Step& step) {
  for (const store::UnleasedTasks& tasks : unleased) {
    const auto found = lanes_.find({tasks.lane, tasks.stage});
    if (found == lanes_.end()) continue;  // nobody ever waited there: the first probe finds them
    Lane& lane = *found->second;
    lane.Announced(tasks);
    if (!tasks.is_ready) {
      const auto due = step.now + absl::ToChronoNanoseconds(tasks.schedule_time - now);
      lane.next_due = std::min(lane.next_due, due);
    }
    Advance(lane, step);
  }
}

void Scheduler::Notified(const model::Notification& notification, Step& step) {
  const auto found = lanes_.find({notification.lane, notification.stage});
  if (found == lanes_.end()) return;
  Lane& lane = *found->second;
  lane.Announced({notification.lane, notification.stage, notification.priority,
                  notification.is_ready, notification.count, notification.schedule_time});
  if (!notification.is_ready) lane.belief.Invalidate();  // when they are due, a probe tells
  Advance(lane, step);
}

void Scheduler::QueueChanged(const QueuePtr& queue, Step& step) {
  for (const int64_t number : queue->lanes) {
    QueuePtr& latest = queues_[number];
    if (latest != nullptr && latest->version > queue->version) continue;  // told out of order
    latest = queue;
    for (int16_t stage = 0; stage < queue->settings.StageCount(); ++stage) {
      const auto found = lanes_.find({number, stage});
      if (found == lanes_.end()) continue;
      found->second->queue = queue;
      Advance(*found->second, step);
      AdvanceNeighbours(*found->second, step);
    }
  }
}

// Notifications sent while disconnected were missed.
void Scheduler::SetListening(bool is_listening, Step& step) {
  is_listening_ = is_listening;
  for (const auto& [lane_stage, lane] : lanes_) {
    lane->Invalidate();
    Advance(*lane, step);
  }
}

// A caller with several queues is served by a later one only when the earlier ones have nothing.
bool Scheduler::MayServe(const Ticket& ticket, const Lane& lane, base::SteadyTime now) const {
  if (ticket.state != Ticket::State::kWaiting) return false;
  for (const Ticket::LaneEntry& entry : ticket.entries) {
    if (entry.lane == &lane) return true;
    if (entry.lane->BlocksLater(now)) return false;
  }
  return false;
}

bool Scheduler::HasWork(const Lane& lane, base::SteadyTime now) const {
  return std::any_of(lane.waiting.begin(), lane.waiting.end(),
                     [&](const TicketPtr& ticket) { return MayServe(*ticket, lane, now); });
}

// Whatever the lane needs next. Safe to call at any time.
void Scheduler::Advance(Lane& lane, Step& step) {
  if (lane.waiting.empty()) return;
  lane.Due(step.now);
  if (lane.queue->LeasesPaused()) {
    step.actions.push_back(TellHeldBack{lane.queue, lane.lane_stage, "the queue is paused"});
    MarkEmpty(lane, step);
    return;
  }
  if (lane.MayLease() && is_memory_full_) {
    WaitForMemory(lane, step);
  } else if (lane.MayLease()) {
    const int may_run = lane.belief.count() >= kSecondLeaseTasks ? 2 : 1;
    if (lane.leases_running < may_run && HasWork(lane, step.now)) {
      ++lane.leases_running;
      step.actions.push_back(SendLease{lane.lane_stage});
    }
  } else if (lane.NeedsProbe(step.now)) {
    if (lane.leases_running == 0 && lane.probe_allowed <= step.now) Probe(lane, step);
  } else {
    MarkEmpty(lane, step);
  }
  Arm(lane);
}

// Other lanes may serve the callers of a lane that blocks them no more: to be called after whatever
// may have ended that.
void Scheduler::AdvanceNeighbours(Lane& lane, Step& step) {
  if (lane.shared_waiters == 0 || lane.BlocksLater(step.now)) return;
  std::set<model::LaneStage> neighbours;
  for (const TicketPtr& ticket : lane.waiting) {
    for (const Ticket::LaneEntry& entry : ticket->entries) {
      const bool has_tasks = entry.lane->belief.count() > 0;
      if (entry.lane != &lane && has_tasks) neighbours.insert(entry.lane->lane_stage);
    }
  }
  for (const model::LaneStage lane_stage : neighbours) Advance(*lanes_.at(lane_stage), step);
}

// Callers that wait go on waiting until others have read their answers.
void Scheduler::WaitForMemory(Lane& lane, Step& step) {
  step.actions.push_back(
      TellHeldBack{lane.queue, lane.lane_stage, "callers have not read what was leased before"});
  wait_for_memory_.insert(lane.lane_stage);
  std::vector<TicketPtr> refused;
  for (const TicketPtr& ticket : lane.waiting) {
    const bool may_wait = ticket->waits || ticket->state != Ticket::State::kWaiting;
    if (!may_wait) refused.push_back(ticket);
  }
  for (const TicketPtr& ticket : refused) Finish(ticket, TooManyCalls(), step);
}

void Scheduler::MemoryFreed(Step& step) {
  for (const model::LaneStage lane_stage : std::exchange(wait_for_memory_, {})) {
    Advance(*lanes_.at(lane_stage), step);
  }
}

// The lane has nothing for now: callers that do not wait are answered when all their lanes say so.
void Scheduler::MarkEmpty(Lane& lane, Step& step) {
  std::vector<TicketPtr> finished;
  for (const TicketPtr& ticket : lane.waiting) {
    if (ticket->state != Ticket::State::kWaiting) continue;
    if (NoteEmpty(*ticket, lane)) finished.push_back(ticket);
  }
  for (const TicketPtr& ticket : finished) FinishEmpty(ticket, step);
}

// One alarm per lane, for whatever comes first of its own accord.
void Scheduler::Arm(Lane& lane) {
  base::SteadyTime at = base::SteadyTime::max();
  if (!lane.waiting.empty() && !lane.queue->LeasesPaused()) {
    at = lane.next_due;
    const bool may_probe = !lane.is_probing;
    if (may_probe && !lane.MayLease() && lane.leases_running == 0) {
      at = std::min(at, std::max(lane.belief.empty_until(), lane.probe_allowed));
    }
    if (may_probe && lane.bounds.IsRaised()) at = std::min(at, lane.RescanAt());
  }
  if (at == lane.alarm_at) return;
  alarms_.Cancel(lane.alarm);
  lane.alarm_at = at;
  lane.alarm = at == base::SteadyTime::max() ? 0 : alarms_.Set(at, lane.lane_stage);
}

void Scheduler::Wake(Lane& lane, Step& step) {
  lane.alarm = 0;
  lane.alarm_at = base::SteadyTime::max();
  const bool is_rescan_due =
      !lane.waiting.empty() && lane.bounds.IsRaised() && lane.RescanAt() <= step.now;
  if (is_rescan_due) Probe(lane, step);
  Advance(lane, step);
}

// One at a time.
void Scheduler::Probe(Lane& lane, Step& step) {
  if (std::exchange(lane.is_probing, true)) return;
  step.actions.push_back(SendProbe{lane.lane_stage});
}

ProbeStart Scheduler::BeginProbe(model::LaneStage lane_stage, const Step& step) {
  return {step.now, lanes_.at(lane_stage)->belief.announced()};
}

void Scheduler::EndProbe(model::LaneStage lane_stage, const ProbeStart& start,
                         const absl::StatusOr<ProbeResult>& seen, Step& step) {
  Lane& lane = *lanes_.at(lane_stage);
  lane.is_probing = false;
  const std::chrono::nanoseconds cost = step.now - start.began;
  const base::SteadyTime turn = probe_budget_.Take(step.now, cost);
  lane.rescan_due = std::max(step.now + Lane::kRescanEvery, turn);
  if (!seen.ok()) {
    lane.Failed(seen.status(), step.now);
    MarkEmpty(lane, step);
  } else {
    Recover(lane);
    lane.bounds.SetPriorities(seen->priorities, lane.belief.announced() != start.announced_before);
    for (const store::Bound& ready : seen->first_ready) lane.bounds.LowerTo(ready);
    lane.belief.Probed(
        start.announced_before, seen->ready,
        std::max(step.now + (is_listening_ ? kEmptyListening : kEmptyDeaf), turn));
    lane.probe_allowed =
        step.now + std::clamp<std::chrono::nanoseconds>(ProbeBudget::kShare * cost, kProbePause,
                                                        kProbePauseMost);
    if (seen->next_due_in.has_value()) {
      const auto due = start.began + absl::ToChronoNanoseconds(*seen->next_due_in);
      lane.next_due = std::min(lane.next_due, due);
    }
  }
  Advance(lane, step);
  AdvanceNeighbours(lane, step);
}

}  // namespace skiplane::broker
