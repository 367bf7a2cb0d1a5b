// The time for deadlines and durations: it goes on when somebody sets the machine's clock.
#pragma once

#include <chrono>

#include "absl/time/time.h"

namespace skiplane::cli {

// Since some moment in the past.
inline absl::Duration SteadyNow() {
  return absl::FromChrono(std::chrono::steady_clock::now().time_since_epoch());
}

}  // namespace skiplane::cli
