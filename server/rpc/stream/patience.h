// For how long a stream goes on while nothing can be leased for it. After that its worker had
// better look for another broker. Not thread-safe.
#pragma once

#include <chrono>
#include <optional>

#include "server/base/timer.h"

namespace skiplane::rpc {

class Patience {
 public:
  static constexpr std::chrono::seconds kMost{10};

  // A lease failed. Whether it is to be tried again: not if all have failed for so long.
  bool Allows(base::SteadyTime now) {
    if (!failing_since_.has_value()) failing_since_ = now;
    return now - *failing_since_ < kMost;
  }
  // One was answered.
  void Reset() { failing_since_.reset(); }

 private:
  std::optional<base::SteadyTime> failing_since_;
};

}  // namespace skiplane::rpc
