// A lane stage as a scheduler sees it: who waits, what is believed of its tasks, and what is under
// way. Pure, not thread-safe.
#pragma once

#include <algorithm>
#include <list>
#include <set>

#include "absl/status/status.h"
#include "server/base/timer.h"
#include "server/broker/schedule/alarms.h"
#include "server/broker/schedule/belief.h"
#include "server/broker/schedule/bounds.h"
#include "server/broker/schedule/turns.h"
#include "server/model/lane_stage.h"
#include "server/store/enqueue.h"

namespace skiplane::broker {

using LaneStages = std::set<model::LaneStage>;
using Blockers = std::set<struct LaneStageState*>;

struct LaneStageState {
  static constexpr std::chrono::seconds kRescanEvery{1};  // while its bounds are raised, at most

  static constexpr std::chrono::seconds kIdle{1};

  explicit LaneStageState(model::LaneStage which) : lane_stage(which) {}

  const model::LaneStage lane_stage;
  QueuePtr queue;  // as last learnt
  Turns waiting;           // those that are served included
  std::list<Ticket::Place> at_once;  // of them, those that do not wait: few beside those that do
  int shared_waiters = 0;  // of them, those that wait elsewhere too
  int filling = 0;         // of them, those that hold tasks already
  LaneStages blocks;       // with tasks for nobody, because this one goes before them

  Bounds bounds;
  Belief belief;
  absl::Status error;  // of the last statement, if it failed

  int leases_running = 0;  // statements that are sent and have not ended
  bool is_probing = false;
  bool is_rescanning = false;
  base::SteadyTime probe_allowed{};  // what somebody waits for is kept to 2 % of a core
  base::SteadyTime rescan_due{};     // the next rescan while its bounds are raised: likewise
  base::SteadyTime idle_until{};     // a lease took all there was: believed for hand-offs only
  bool has_packs = false;  // or may have some: leases look for them
  int64_t hints = 0;  // that there are ready tasks: it did not if another one came beside it
  base::SteadyTime next_due = base::SteadyTime::max();  // the schedule time of the next task
  bool knows_next_due = false;  // a probe told it, and nothing since made that uncertain
  int64_t forgotten_dues = 0;   // how often it was not known any more
  Alarms::Id alarm = 0;  // the next thing to do of its own accord
  base::SteadyTime alarm_at = base::SteadyTime::max();

  void Enter(const TicketPtr& ticket, Ticket::Entry* entry) {
    const auto index = static_cast<size_t>(entry - ticket->entries.data());
    waiting.Add(ticket, index, entry);
    if (ticket->waits) return;
    entry->at_once = at_once.insert(at_once.end(), {ticket, index});
  }
  void Leave(const Ticket& ticket, const Ticket::Entry& entry) {
    if (!ticket.waits) at_once.erase(entry.at_once);
    waiting.Remove(entry);
  }

  bool MayLease() const { return belief.count() > 0 && bounds.IsRead(); }
  bool NeedsProbe(base::SteadyTime now) const {
    return !bounds.IsRead() || belief.KindAt(now) == Belief::Kind::kUnknown;
  }

  // Whether there is nothing to be had for now, as far as is believed.
  bool HasNothing() const {
    return belief.count() == 0 || queue->LeasesPaused() || !error.ok();
  }

  // Whether a caller that wants this lane stage before others is to wait for it: it may have
  // something, or is about to tell. Whenever this turns false, those behind it have to be asked.
  bool BlocksLater(base::SteadyTime now) const {
    if (queue->LeasesPaused()) return false;
    return belief.count() > 0 || is_probing || (NeedsProbe(now) && probe_allowed <= now);
  }

  base::SteadyTime RescanAt() const { return std::max(rescan_due, probe_allowed); }

  // A commit here or a notification told of tasks, ready now or later.
  void Announced(const store::UnleasedTasks& unleased) {
    bounds.Lower(unleased.priority, unleased.schedule_time);
    ++hints;
    has_packs = has_packs || unleased.may_be_packed;
    belief.Announced(unleased.count, unleased.is_ready);
  }

  // A lease did; `hints_before`: of when it began.
  void LookedForPacks(bool saw_some, int64_t hints_before) {
    if (!saw_some && hints == hints_before) has_packs = false;
  }

  // Whether a probe from the bounds tells enough: what was missed before them is for a rescan.
  bool MayLookAhead() const { return bounds.IsRead() && bounds.IsRaised() && knows_next_due; }
  bool IsRescanDue(base::SteadyTime now) const {
    return bounds.IsRaised() && !is_rescanning && RescanAt() <= now;
  }

  // The first caller after a while: nobody was there for whom it was rescanned, and what was missed
  // meanwhile may go first.
  void Reopen(base::SteadyTime now) {
    if (is_rescanning || RescanAt() + kRescanEvery > now) return;
    bounds.Unread();
    rescan_due = now + kRescanEvery;
  }

  void ForgetNextDue() {
    knows_next_due = false;
    ++forgotten_dues;
  }

  // The schedule time of the next task may have come.
  void Due(base::SteadyTime now) {
    constexpr int64_t kGuess = 16;
    if (next_due > now) return;
    next_due = base::SteadyTime::max();
    ForgetNextDue();
    belief.Due(kGuess);
  }

  // Something failed, or notifications were lost: nothing that is believed is certain.
  void Invalidate() {
    bounds.Reset();
    ForgetNextDue();
    belief.Invalidate();
    probe_allowed = {};
  }

  // A probe or a lease failed: the next probe comes a little later.
  void Failed(absl::Status status, base::SteadyTime now) {
    constexpr std::chrono::milliseconds kPause(200);
    error = std::move(status);
    Invalidate();
    probe_allowed = now + kPause;
  }
};

}  // namespace skiplane::broker
