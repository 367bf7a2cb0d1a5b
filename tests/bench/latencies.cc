#include "tests/bench/latencies.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace skiplane::bench {

void Latencies::Merge(const Latencies& other) {
  values_ms_.insert(values_ms_.end(), other.values_ms_.begin(), other.values_ms_.end());
}

double Latencies::PercentileMs(double share) {
  if (values_ms_.empty()) return 0;
  const double rank = std::ceil(share * static_cast<double>(values_ms_.size()));
  const auto index = static_cast<std::ptrdiff_t>(std::max(rank, 1.0)) - 1;
  const auto nth = values_ms_.begin() + index;
  std::nth_element(values_ms_.begin(), nth, values_ms_.end());
  return *nth;
}

}  // namespace skiplane::bench
