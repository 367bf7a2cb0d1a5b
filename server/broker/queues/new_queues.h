// How many queues are made in a minute, by calls at this broker and by those of one principal:
// queues stay, and an installation has room for so many. Thread-safe.
#pragma once

#include <algorithm>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "server/base/mutex.h"
#include "server/base/timer.h"
#include "server/base/token_bucket.h"
#include "server/model/limits.h"

namespace skiplane::broker {

struct NewQueueLimits {
  int per_minute = model::kNewQueuesPerMinuteMax;
  int principal_share = model::kPrincipalShare;  // percent; 100: no limit of its own

  double OfPrincipal() const { return std::max(1.0, per_minute * principal_share / 100.0); }
};

class NewQueues {
 public:
  explicit NewQueues(NewQueueLimits limits, base::SteadyTime now = base::SteadyTime::clock::now())
      : limits_(limits), all_(RateOf(limits.per_minute), now) {}

  // For one queue. TOO_MANY_NEW_QUEUES, with a hint when there is room for it. `principal`: who
  // wants it; empty: nobody that is known.
  absl::Status Take(const std::string& principal, base::SteadyTime now);
  // What was taken, and not made use of.
  void GiveBack(const std::string& principal);

 private:
  static base::TokenBucket::Rate RateOf(double per_minute) { return {per_minute / 60, per_minute}; }

  base::TokenBucket& BucketOf(const std::string& principal, base::SteadyTime now)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const NewQueueLimits limits_;
  base::Mutex mutex_;
  base::TokenBucket all_ ABSL_GUARDED_BY(mutex_);
  // Those that have made some of late: no more than may be made.
  absl::flat_hash_map<std::string, base::TokenBucket> by_principal_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace skiplane::broker
