#include <algorithm>
#include <utility>

#include "server/broker/api/refusals.h"
#include "server/broker/lease/decision_log.h"
#include "server/broker/lease/dispatcher.h"

namespace skiplane::broker {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds kDoubtPause(25);     // between two looks at an empty lane in doubt
constexpr seconds kSweepEvery(1);           // a lane whose bounds are raised, at most
constexpr seconds kCertainListening(5);     // an empty lane while hints of others are heard
constexpr seconds kCertainDeaf(1);          // and while they are not
constexpr int64_t kSecondLeaseTasks = 128;  // that a second statement beside the first needs

}  // namespace

void Dispatcher::Committed(absl::Span<const store::Claimable> claimable, absl::Time now) {
  const base::SteadyTime steady_now = std::chrono::steady_clock::now();
  Outbox outbox;
  base::MutexLock lock(mutex_);
  for (const store::Claimable& tasks : claimable) {
    const auto found = lanes_.find({tasks.lane, tasks.stage});
    if (found == lanes_.end()) continue;  // nobody ever waited there: the first look finds them
    Lane& lane = *found->second;
    lane.Committed(tasks);
    if (!tasks.can_run) {
      const auto due = steady_now + absl::ToChronoNanoseconds(tasks.run_at - now);
      lane.next_due = std::min(lane.next_due, due);
    }
    Pump(lane, outbox);
  }
}

void Dispatcher::Hinted(const model::Hint& hint) {
  Outbox outbox;
  base::MutexLock lock(mutex_);
  const auto found = lanes_.find({hint.lane, hint.stage});
  if (found == lanes_.end()) return;
  Lane& lane = *found->second;
  lane.Committed({hint.lane, hint.stage, hint.priority, hint.can_run, hint.count, hint.run_at});
  lane.is_exact = false;  // others may be faster
  if (!hint.can_run) {    // when they are due by the database's clock, a look tells
    lane.certain_until = {};
    lane.look_allowed = {};
  }
  Pump(lane, outbox);
}

void Dispatcher::QueueChanged(const QueuePtr& queue) {
  Outbox outbox;
  base::MutexLock lock(mutex_);
  for (const int64_t number : queue->lanes) {
    for (int16_t stage = 0; stage < queue->settings.StageCount(); ++stage) {
      const auto found = lanes_.find({number, stage});
      if (found == lanes_.end()) continue;
      found->second->queue = queue;
      Pump(*found->second, outbox);
      PumpNeighbours(*found->second, outbox);
    }
  }
}

void Dispatcher::SetListening(bool listening) {
  Outbox outbox;
  base::MutexLock lock(mutex_);
  is_listening_ = listening;
  // Whatever happened between two states was not heard of.
  for (const auto& [number, lane] : lanes_) {
    lane->Distrust();
    Pump(*lane, outbox);
  }
}

// A caller with several queues is served by a later one only when the earlier ones have nothing.
bool Dispatcher::MayServe(const Ticket& ticket, const Lane& lane, base::SteadyTime now) const {
  if (ticket.state != Ticket::State::kWaiting) return false;
  for (const Ticket::Stop& stop : ticket.stops) {
    if (stop.lane == &lane) return true;
    if (stop.lane->BlocksLater(now)) return false;
  }
  return false;
}

bool Dispatcher::HasWork(const Lane& lane, base::SteadyTime now) const {
  return std::any_of(lane.waiting.begin(), lane.waiting.end(),
                     [&](const TicketPtr& ticket) { return MayServe(*ticket, lane, now); });
}

void Dispatcher::Pump(Lane& lane, Outbox& outbox) {
  if (lane.waiting.empty()) return;
  const base::SteadyTime now = std::chrono::steady_clock::now();
  lane.Passed(now);
  if (lane.queue->LeasesPaused()) {
    LogHeldBack(*lane.queue, lane.place, "the queue is paused");
    Exhaust(lane, outbox);
    return;
  }
  if (lane.MayLease() && memory_.IsFull()) {
    LogHeldBack(*lane.queue, lane.place, "callers have not read what was leased before");
    Starve(lane, outbox);
  } else if (lane.MayLease()) {
    const int may_run = lane.expected >= kSecondLeaseTasks ? 2 : 1;
    if (lane.running < may_run && HasWork(lane, now)) StartLease(lane, outbox);
  } else if (lane.InDoubt(now)) {
    if (lane.running == 0 && !lane.is_looking && lane.look_allowed <= now) StartLook(lane, outbox);
  } else {
    Exhaust(lane, outbox);
  }
  ArmTimer(lane);
}

// Other lanes may serve the callers of a lane that blocks them no more: to be called after whatever
// may have ended that.
void Dispatcher::PumpNeighbours(Lane& lane, Outbox& outbox) {
  if (lane.many_stops == 0 || lane.BlocksLater(std::chrono::steady_clock::now())) return;
  std::vector<Lane*> neighbours;
  for (const TicketPtr& ticket : lane.waiting) {
    for (const Ticket::Stop& stop : ticket->stops) {
      if (stop.lane != &lane && stop.lane->expected > 0) neighbours.push_back(stop.lane);
    }
  }
  std::sort(neighbours.begin(), neighbours.end());
  neighbours.erase(std::unique(neighbours.begin(), neighbours.end()), neighbours.end());
  for (Lane* neighbour : neighbours) Pump(*neighbour, outbox);
}

// Callers that wait go on waiting until others have read their answers.
void Dispatcher::Starve(Lane& lane, Outbox& outbox) {
  starved_.insert(lane.place);
  std::vector<TicketPtr> refused;
  for (const TicketPtr& ticket : lane.waiting) {
    const bool may_wait = ticket->waits || ticket->state != Ticket::State::kWaiting;
    if (!may_wait) refused.push_back(ticket);
  }
  for (const TicketPtr& ticket : refused) Finish(ticket, TooManyCalls(), outbox);
}

void Dispatcher::OnRoom() {
  Outbox outbox;
  base::MutexLock lock(mutex_);
  for (const model::LaneStage place : std::exchange(starved_, {})) Pump(*lanes_.at(place), outbox);
}

// The lane has nothing for now: callers that do not wait are answered when all their lanes say so.
void Dispatcher::Exhaust(Lane& lane, Outbox& outbox) {
  std::vector<TicketPtr> finished;
  for (const TicketPtr& ticket : lane.waiting) {
    if (ticket->state != Ticket::State::kWaiting) continue;
    if (ticket->Exhaust(lane)) finished.push_back(ticket);
  }
  for (const TicketPtr& ticket : finished) FinishEmpty(ticket, outbox);
}

// One timer per lane, for whatever comes first of its own accord.
void Dispatcher::ArmTimer(Lane& lane) {
  base::SteadyTime at = base::SteadyTime::max();
  if (!lane.waiting.empty() && !lane.queue->LeasesPaused()) {
    at = lane.next_due;
    if (!lane.MayLease() && lane.running == 0) {
      at = std::min(at, std::max(lane.certain_until, lane.look_allowed));
    }
    if (lane.bounds.IsRaised()) {
      at = std::min(at, lane.SweepAt());
    }
  }
  if (lane.is_looking || at == lane.timer_at) return;
  if (lane.timer != 0) context_.timer.Cancel(lane.timer);
  lane.timer = 0;
  lane.timer_at = at;
  if (at == base::SteadyTime::max()) return;
  lane.timer = context_.timer.At(at, [this, place = lane.place] { OnTimer(place); });
}

void Dispatcher::OnTimer(model::LaneStage place) {
  const base::SteadyTime now = std::chrono::steady_clock::now();
  Outbox outbox;
  base::MutexLock lock(mutex_);
  Lane& lane = *lanes_.at(place);
  lane.timer = 0;
  lane.timer_at = {};
  const bool is_sweep_due =
      !lane.waiting.empty() && lane.bounds.IsRaised() && lane.SweepAt() <= now;
  if (is_sweep_due && !lane.is_looking) StartLook(lane, outbox);
  Pump(lane, outbox);
}

void Dispatcher::StartLook(Lane& lane, Outbox& outbox) {
  lane.is_looking = true;
  outbox.Add([this, place = lane.place] {
    context_.pool.Submit([this, place](absl::StatusOr<pg::Session*> session) {
      RunLook(place, std::move(session));
    });
  });
}

void Dispatcher::RunLook(model::LaneStage place, absl::StatusOr<pg::Session*> session) {
  const base::SteadyTime began = std::chrono::steady_clock::now();
  int64_t committed_before = 0;
  {
    base::MutexLock lock(mutex_);
    Lane& lane = *lanes_.at(place);
    committed_before = lane.committed;
  }
  const absl::StatusOr<LookResult> seen =
      session.ok() ? Look(**session, place.lane, place.stage) : session.status();
  const base::SteadyTime now = std::chrono::steady_clock::now();

  Outbox outbox;
  base::MutexLock lock(mutex_);
  Lane& lane = *lanes_.at(place);
  lane.is_looking = false;
  const base::SteadyTime turn = turns_.Take(now, now - began);
  lane.sweep_due = std::max(now + kSweepEvery, turn);
  if (!seen.ok()) {  // a look changes nothing
    lane.Failed(IsOutcomeUnknown(seen.status()) ? RepeatLater() : seen.status(), now);
    Exhaust(lane, outbox);
  } else {
    lane.error = absl::OkStatus();
    lane.bounds.SetPriorities(seen->priorities, lane.committed != committed_before);
    for (const store::Bound& free : seen->first_free) lane.bounds.LowerTo(free);
    lane.Looked(committed_before, seen->free,
                std::max(now + (is_listening_ ? kCertainListening : kCertainDeaf), turn));
    lane.look_allowed =
        now + std::max<std::chrono::nanoseconds>(kDoubtPause, Turns::kShare * (now - began));
    if (seen->next_due_in.has_value()) {
      const auto due = began + absl::ToChronoNanoseconds(*seen->next_due_in);
      lane.next_due = std::min(lane.next_due, due);
    }
  }
  Pump(lane, outbox);
  PumpNeighbours(lane, outbox);
}

}  // namespace skiplane::broker
