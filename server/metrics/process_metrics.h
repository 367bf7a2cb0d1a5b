// The process as the kernel sees it, read at each scrape, under the names that every Prometheus
// client library uses. What cannot be read is left out. Thread-safe.
#pragma once

#include <vector>

#include "prometheus/collectable.h"
#include "prometheus/metric_family.h"

namespace skiplane::metrics {

class ProcessMetrics : public prometheus::Collectable {
 public:
  std::vector<prometheus::MetricFamily> Collect() const override;
};

}  // namespace skiplane::metrics
