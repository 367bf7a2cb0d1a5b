// Which tasks calls at other brokers wait for, as their notifications tell: so that a commit that
// ends one of them is told, and all others cost one look into memory. A peer tells of a task again
// with the first call that comes more than kWaitMax after it told the last time: each is kept for
// twice that, so that the call that came last before has got its answer, and for four times that at
// most. Thread-safe.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/types/span.h"
#include "server/base/mutex.h"
#include "server/base/timer.h"
#include "server/metrics/metrics.h"
#include "server/model/limits.h"
#include "server/model/task.h"

namespace skiplane::broker {

class PeerAwaits {
 public:
  explicit PeerAwaits(metrics::Metrics& metrics, size_t most = model::kAwaitedByPeersMax)
      : metrics_(metrics), most_(most) {}

  // What is more than it may keep is not kept: whoever waits finds out by itself, later.
  void Add(int64_t lane, absl::Span<const int64_t> tasks, base::SteadyTime now);

  // Drops what is old enough.
  void Turn(base::SteadyTime now);

  // Those of the tasks that are waited for; it forgets them.
  std::vector<int64_t> Take(int64_t lane, absl::Span<const int64_t> tasks);

 private:
  using Tasks = absl::flat_hash_set<model::TaskId>;

  void TurnLocked(base::SteadyTime now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Count() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  metrics::Metrics& metrics_;
  const size_t most_;
  std::atomic<bool> is_empty_ = true;  // most brokers, most of the time: no lock then
  base::Mutex mutex_;
  // The second one holds what came before turn_: it goes when the next turn comes.
  std::array<Tasks, 2> tasks_ ABSL_GUARDED_BY(mutex_);
  base::SteadyTime turn_ ABSL_GUARDED_BY(mutex_){};
};

}  // namespace skiplane::broker
