// For how long the oldest ready task of each lane has been due, as far as the first 2,000 rows of
// each priority tell.
//
// Within 2 % of a core: with very many lanes, or an old transaction that keeps dead rows in the
// way, ages are renewed less often. Not thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "server/base/timer.h"
#include "server/broker/turns.h"
#include "server/pg/session.h"

namespace skiplane::broker {

class AgeProbe {
 public:
  // After `most` the other lanes wait for the next run, and that for `share` times what this took.
  explicit AgeProbe(std::chrono::nanoseconds most = std::chrono::milliseconds(100),
                    int share = Turns::kShare)
      : most_(most), share_(share) {}

  // Renews the ages of some of these lanes, of all if time allows. `lanes` ascend.
  void Run(pg::Session& session, const std::vector<int64_t>& lanes);

  // As last read; zero for a lane not among those of the last run, or not yet read.
  absl::Duration AgeOf(int64_t lane) const;

 private:
  const std::chrono::nanoseconds most_;
  const int share_;
  absl::flat_hash_map<int64_t, absl::Duration> ages_;
  int64_t last_ = 0;  // the lane at which the last run ended
  base::SteadyTime allowed_{};
};

}  // namespace skiplane::broker
