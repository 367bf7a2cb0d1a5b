// Adds what statements appended about changed states to the counters, so that reading them stays
// cheap. The sum of both is exact at any moment. Not thread-safe.
#pragma once

#include <chrono>
#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/pg/session.h"
#include "server/upkeep/lane_cleaner.h"
#include "server/upkeep/round.h"

namespace skiplane::upkeep {

struct CounterFoldResult {
  int64_t deltas = 0;
  int64_t lanes_cleaned = 0;
  bool is_complete = true;
};

class CounterFolder {
 public:
  // A lane's counters are cleaned once, `clean_after` its first fold since it was cleaned. A lane
  // with few deltas waits until all lanes are folded, `all_every`: else thousands of queues with
  // little to do would cost a commit each in every pass.
  explicit CounterFolder(absl::Duration clean_after = absl::Minutes(1),
                         absl::Duration all_every = absl::Seconds(30));

  // The first error, when all that it does not concern has been done.
  absl::StatusOr<CounterFoldResult> RunOnce(pg::Session& session);

 private:
  using SteadyTime = std::chrono::steady_clock::time_point;

  absl::StatusOr<bool> FoldLane(pg::Session& session, int64_t lane, CounterFoldResult* result);

  absl::Duration all_every_;
  SteadyTime all_due_{};
  Round fold_round_;
  LaneCleaner cleaner_;
};

}  // namespace skiplane::upkeep
