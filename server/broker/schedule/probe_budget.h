// When each of many lane stages may next be probed without need, so that all of them together cost
// no more than one may: 2 % of a core. No I/O and no locks: not thread-safe.
#pragma once

#include <algorithm>
#include <chrono>

#include "server/base/timer.h"

namespace skiplane::broker {

class ProbeBudget {
 public:
  static constexpr int kShare = 50;  // a probe may cost 1/50 of the time to the next
  static constexpr std::chrono::seconds kDelayMost{1};  // of others by one expensive probe

  // When a lane stage may be probed again whose probe took `cost` and has just ended.
  base::SteadyTime Take(base::SteadyTime now, std::chrono::nanoseconds cost) {
    const std::chrono::nanoseconds delay = kShare * cost;
    next_ = std::max(next_, now) + std::min<std::chrono::nanoseconds>(delay, kDelayMost);
    return next_;
  }

 private:
  base::SteadyTime next_{};
};

}  // namespace skiplane::broker
