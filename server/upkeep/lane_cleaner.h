// Cleans lanes some time after something was folded there: once for many folds. One that cannot be
// cleaned is due as long after that. Not thread-safe.
#pragma once

#include <chrono>
#include <cstdint>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/pg/session.h"
#include "server/upkeep/round.h"

namespace skiplane::upkeep {

class LaneCleaner {
 public:
  // `after` the first fold since it was cleaned, a lane is due. A pass begins no further lane after
  // `limit`.
  LaneCleaner(absl::Duration after, absl::Duration limit) : after_(after), round_(limit) {}

  // Something was folded there.
  void Note(int64_t lane);

  // Calls `clean` with each lane that is due. It returns whether nothing is left there. The first
  // error; ends early when the session broke.
  absl::Status Visit(pg::Session& session,
                     absl::FunctionRef<absl::StatusOr<bool>(int64_t lane)> clean);

 private:
  using SteadyTime = std::chrono::steady_clock::time_point;

  const absl::Duration after_;
  Round round_;
  absl::flat_hash_map<int64_t, SteadyTime> due_;
};

}  // namespace skiplane::upkeep
