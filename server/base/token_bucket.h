// A rate with a burst: tokens come at a steady rate, up to so many, and who wants to do something
// takes some. Not thread-safe.
#pragma once

#include "absl/time/time.h"
#include "server/base/timer.h"

namespace skiplane::base {

class TokenBucket {
 public:
  struct Rate {
    double per_second;
    double burst;

    bool operator==(const Rate&) const = default;
  };

  // Full.
  TokenBucket(Rate rate, SteadyTime now) : rate_(rate), tokens_(rate.burst), at_(now) {}

  // Zero if `count` tokens were taken; else how long it takes until they are there. More than the
  // burst may be taken from a full bucket: then the next ones come that much later.
  absl::Duration Take(double count, SteadyTime now);
  void GiveBack(double count);

  bool IsFull(SteadyTime now);
  // What is there already stays, up to the new burst.
  void SetRate(Rate rate, SteadyTime now);
  const Rate& rate() const { return rate_; }

 private:
  void Refill(SteadyTime now);

  Rate rate_;
  double tokens_;
  SteadyTime at_;
};

}  // namespace skiplane::base
