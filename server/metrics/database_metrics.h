// The metrics of the way to PostgreSQL. Thread-safe.
#pragma once

#include <cstdint>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/metrics/families.h"
#include "server/metrics/series.h"

namespace skiplane::metrics {

class DatabaseMetrics {
 public:
  explicit DatabaseMetrics(Registry& registry);

  void Statement(absl::string_view name, absl::Duration duration);
  void Error(absl::string_view sqlstate_class);
  void SetPool(int64_t connections, int64_t idle, int64_t waiting_jobs);
  void Notification(absl::string_view result);
  void SetOutage(absl::string_view reason);
  void ClockStep(absl::Duration back);
  void SetUp(bool up);

 private:
  SharedSeries<Histogram> statements_;
  SharedSeries<Counter> errors_;
  SharedSeries<Gauge> connections_;
  Gauge& waiting_jobs_;
  SharedSeries<Counter> notifications_;
  SharedSeries<Gauge> outage_;
  Counter& clock_steps_;
  Counter& clock_step_seconds_;
  Gauge& up_;
};

}  // namespace skiplane::metrics
