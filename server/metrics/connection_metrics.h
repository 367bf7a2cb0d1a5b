// The metrics of callers' connections to the gRPC port. Thread-safe.
#pragma once

#include <cstdint>

#include "server/metrics/families.h"

namespace skiplane::metrics {

class ConnectionMetrics {
 public:
  explicit ConnectionMetrics(Registry& registry);

  void Set(int64_t open, int64_t max);
  void Refused();
  void AcceptFailed();
  void SetPortAnswers(bool answers);

 private:
  Gauge& open_;
  Gauge& max_;
  Counter& refused_;
  Counter& accept_failures_;
  Gauge& port_answers_;
};

}  // namespace skiplane::metrics
