// The metrics of the space on the disk. Thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "absl/strings/string_view.h"
#include "server/base/mutex.h"
#include "server/metrics/families.h"
#include "server/metrics/metrics.h"

namespace skiplane::metrics {

class SizeMetrics {
 public:
  explicit SizeMetrics(Registry& registry);

  void SetTable(absl::string_view table, const TableGauges& gauges);
  void SetDatabase(int64_t bytes);

 private:
  struct Series {
    Gauge& rows;
    Gauge& toast;
    Gauge& indexes;
    Gauge& dead;
  };
  Series& SeriesOf(absl::string_view table) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  Family<Gauge>& bytes_;
  Family<Gauge>& dead_;
  Gauge& database_;
  base::Mutex mutex_;
  std::map<std::string, Series> tables_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace skiplane::metrics
