// What a dispatcher believes of one stage of a lane: who waits, where to look, and whether looking
// is worth it. No I/O and no locks: the dispatcher guards it, and tests drive it by hand.
//
// `expected` is how many tasks are believed to be free. Local commits add to it exactly, leases
// take from it; kMany stands for "an unknown number". At 0 the lane is believed to be empty, and
// that belief is certain only until `certain_until`: after that, or while `certain_until` has
// passed, the lane is in doubt and is looked at (read only) before anything else. So is a lane that
// was never looked at, whatever is expected: the most urgent tasks may be older than the broker, or
// their hints still on their way.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <list>
#include <vector>

#include "absl/status/status.h"
#include "server/base/timer.h"
#include "server/broker/lease/bounds.h"
#include "server/broker/lease/ticket.h"
#include "server/model/lane_stage.h"
#include "server/store/enqueue.h"

namespace skiplane::broker {

struct Lane {
  static constexpr int64_t kMany = std::numeric_limits<int64_t>::max() / 2;

  explicit Lane(model::LaneStage lane_and_stage) : place(lane_and_stage) {}

  const model::LaneStage place;
  QueuePtr queue;  // as last learnt
  std::list<TicketPtr> waiting;
  Bounds bounds;

  int64_t expected = 0;
  bool is_exact = true;   // `expected` came from commits here, not from a look, a timer or a hint
  int64_t committed = 0;  // tasks of local commits and hints so far
  int running = 0;        // lease statements on their way
  int many_stops = 0;     // waiting tickets that wait in other lanes too
  absl::Status error;     // of the last statement, if it failed
  bool is_looking = false;
  bool is_known = false;             // its priorities were read
  base::SteadyTime certain_until{};  // the past: in doubt
  base::SteadyTime look_allowed{};   // its own looks are kept to 2 % of a core
  base::SteadyTime sweep_due{};      // the next look if its bounds are raised
  base::Timer::Id timer = 0;         // the next thing to do of its own accord
  base::SteadyTime timer_at{};
  base::SteadyTime next_due = base::SteadyTime::max();  // the next scheduled task

  bool MayLease() const { return expected > 0 && is_known; }
  bool InDoubt(base::SteadyTime now) const {
    return !is_known || (expected == 0 && certain_until <= now);
  }

  // Whether a caller that wants this lane before others is to wait for it: it may have something,
  // or is about to tell. Whenever this turns false, the lanes behind it have to be asked.
  bool BlocksLater(base::SteadyTime now) const {
    if (queue->LeasesPaused()) return false;
    return expected > 0 || is_looking || (InDoubt(now) && look_allowed <= now);
  }

  // When it is due to be swept, if its bounds are raised.
  base::SteadyTime SweepAt() const { return std::max(sweep_due, look_allowed); }

  // Tasks became free (a commit here, or a hint). Lowers the bound.
  void Committed(const store::Claimable& claimable);

  // Time has passed. What was scheduled until now is expected, at a guess.
  void Passed(base::SteadyTime now);

  // A statement for `asked` tasks is about to be sent. Returns what Got wants back.
  int64_t Ask(int64_t asked);

  // It has leased `got` of them. `is_cut` when bytes and not a lack of tasks ended it.
  void Got(int64_t asked, int64_t got, bool is_cut, int64_t committed_before);

  // It was not run, or changed nothing: no word on the lane.
  void Unask(int64_t asked);

  // A look that began when `committed` was `committed_before` found `free` tasks (kMany: a full
  // slice). If none, the lane is empty for sure until `certain`.
  void Looked(int64_t committed_before, int64_t free, base::SteadyTime certain);

  // Something failed, or hints were lost: nothing that is believed is certain.
  void Distrust();

  // A look or a lease failed: the next look comes a little later.
  void Failed(absl::Status status, base::SteadyTime now);
};

}  // namespace skiplane::broker
