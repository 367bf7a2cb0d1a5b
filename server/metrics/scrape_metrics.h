// The metrics of the page with metrics. Thread-safe.
#pragma once

#include <cstdint>

#include "absl/time/time.h"
#include "server/metrics/families.h"

namespace skiplane::metrics {

class ScrapeMetrics {
 public:
  explicit ScrapeMetrics(Registry& registry);

  void Scraped(int64_t bytes, absl::Duration duration);

 private:
  Counter& scrapes_;
  Counter& bytes_;
  Histogram& seconds_;
};

}  // namespace skiplane::metrics
