// When a failed attempt runs again: a pure rule, the same in every broker.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/time/time.h"
#include "server/model/limits.h"

namespace skiplane::model {

enum class RetryKind : int16_t { kLinear = 1, kFixed = 2, kExponential = 3, kTable = 4 };

struct RetryPolicy {
  RetryKind kind = RetryKind::kLinear;
  absl::Duration base_delay = kRetryDelayDefault;
  double factor = 2.0;  // of kExponential
  absl::Duration max_delay = kRetryDelayMax;
  std::vector<absl::Duration> delays;  // of kTable; the last one repeats
  double jitter = 0.0;                 // share of the delay, 0 to kRetryJitterMax
  int32_t max_attempts = kMaxAttemptsDefault;

  friend bool operator==(const RetryPolicy&, const RetryPolicy&) = default;
};

// The delay after attempt number `attempt` (from 1) failed. `spread` is a random number in [-1, 1]
// which jitter scales. Never negative, never above max_delay, whatever `attempt` is.
absl::Duration RetryDelay(const RetryPolicy& policy, int32_t attempt, double spread);

}  // namespace skiplane::model
