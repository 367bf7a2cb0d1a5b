// The metrics of callers' connections, by the port that they came to. Thread-safe.
#pragma once

#include <cstdint>

#include "absl/strings/string_view.h"
#include "server/metrics/families.h"
#include "server/metrics/series.h"

namespace skiplane::metrics {

class ConnectionMetrics {
 public:
  explicit ConnectionMetrics(Registry& registry);

  void Set(absl::string_view port, int64_t open, int64_t max);
  void Refused(absl::string_view port);
  void Cut(absl::string_view reason);
  void AcceptFailed(absl::string_view port);
  void HttpRefused(absl::string_view reason);
  void HttpBodyHeld(int64_t bytes);
  void SetPortAnswers(bool answers);

 private:
  SharedSeries<Gauge> open_;
  SharedSeries<Gauge> max_;
  SharedSeries<Counter> refused_;
  SharedSeries<Counter> cut_;
  SharedSeries<Counter> accept_failures_;
  SharedSeries<Counter> http_refused_;
  Gauge& http_body_bytes_;
  Gauge& port_answers_;
};

}  // namespace skiplane::metrics
