// Durations of a measurement and their percentiles. Not thread-safe: one per caller, merged at the
// end.
#pragma once

#include <vector>

#include "absl/time/time.h"

namespace skiplane::bench {

class Latencies {
 public:
  void Add(absl::Duration duration) { values_ms_.push_back(absl::ToDoubleMilliseconds(duration)); }
  void Merge(const Latencies& other);

  // The smallest value that at least this share (0 to 1) of all values do not exceed; 0 if there
  // are none.
  double PercentileMs(double share);

 private:
  std::vector<double> values_ms_;
};

}  // namespace skiplane::bench
