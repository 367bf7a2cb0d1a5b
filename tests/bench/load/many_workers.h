// Worker sessions by the thousand, each with one lease. Failures end the program. Not thread-safe.
#pragma once

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "tests/bench/stage.h"

namespace skiplane::bench {

struct HeldTask {
  std::string worker_id;
  std::string lease_token;
  absl::Time leased;  // by our clock, when the answer came
};

// Enqueues a task for each of `workers` sessions and leases it.
std::vector<HeldTask> LeaseOneEach(Stage& stage, int64_t workers, absl::Duration lease_duration);

}  // namespace skiplane::bench
