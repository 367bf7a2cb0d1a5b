#include "server/base/token_bucket.h"

#include <algorithm>
#include <chrono>

namespace skiplane::base {

void TokenBucket::Refill(SteadyTime now) {
  const std::chrono::duration<double> passed = now - at_;
  if (passed.count() <= 0) return;
  tokens_ = std::min(rate_.burst, tokens_ + passed.count() * rate_.per_second);
  at_ = now;
}

absl::Duration TokenBucket::Take(double count, SteadyTime now) {
  Refill(now);
  const double missing = std::min(count, rate_.burst) - tokens_;
  if (missing > 0) {
    return std::max(absl::Seconds(missing / rate_.per_second), absl::Nanoseconds(1));
  }
  tokens_ -= count;
  return absl::ZeroDuration();
}

void TokenBucket::GiveBack(double count) { tokens_ = std::min(rate_.burst, tokens_ + count); }

bool TokenBucket::IsFull(SteadyTime now) {
  Refill(now);
  return tokens_ >= rate_.burst;
}

void TokenBucket::SetRate(Rate rate, SteadyTime now) {
  Refill(now);
  rate_ = rate;
  tokens_ = std::min(tokens_, rate_.burst);
}

}  // namespace skiplane::base
