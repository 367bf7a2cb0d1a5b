#include "server/model/retry.h"

#include <algorithm>
#include <cmath>

namespace skiplane::model {
namespace {

// Finite, so that a base delay of zero stays zero however often it grows.
constexpr double kGrowthMax = 1e18;

absl::Duration PlannedDelay(const RetryPolicy& policy, int32_t attempt) {
  switch (policy.kind) {
    case RetryKind::kLinear:
      return policy.base_delay * attempt;
    case RetryKind::kFixed:
      return policy.base_delay;
    case RetryKind::kExponential:
      return policy.base_delay * std::min(std::pow(policy.factor, attempt - 1), kGrowthMax);
    case RetryKind::kTable:
      break;
  }
  if (policy.delays.empty()) return policy.base_delay;
  const size_t last = policy.delays.size() - 1;
  return policy.delays[std::min(static_cast<size_t>(attempt - 1), last)];
}

}  // namespace

absl::Duration RetryDelay(const RetryPolicy& policy, int32_t attempt, double spread) {
  const absl::Duration capped =
      std::min(PlannedDelay(policy, std::max(attempt, 1)), policy.max_delay);
  const absl::Duration spread_out = capped * (1.0 + policy.jitter * spread);
  return std::max(absl::ZeroDuration(), std::min(spread_out, policy.max_delay));
}

}  // namespace skiplane::model
