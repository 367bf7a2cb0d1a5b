// The metrics of gRPC calls, named and labelled as in gRFC A66. Thread-safe.
#pragma once

#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/base/mutex.h"
#include "server/metrics/families.h"
#include "server/metrics/series.h"

namespace skiplane::metrics {

class RpcMetrics {
 public:
  explicit RpcMetrics(Registry& registry);

  void Started(absl::string_view method);
  void Ended(absl::string_view method, absl::string_view status, absl::Duration duration);
  void Exhausted(absl::string_view reason);

 private:
  SharedSeries<Counter> started_;
  SharedSeries<Counter> exhausted_;
  Family<Histogram>& durations_;
  base::Mutex mutex_;
  absl::flat_hash_map<std::string, SeriesSet<Histogram>> by_method_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace skiplane::metrics
