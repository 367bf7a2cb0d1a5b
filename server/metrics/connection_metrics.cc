#include "server/metrics/connection_metrics.h"

namespace skiplane::metrics {

ConnectionMetrics::ConnectionMetrics(Registry& registry)
    : open_(NewGauge(registry, "skiplane_connections", "Open connections of callers.").Add({})),
      max_(NewGauge(registry, "skiplane_connections_max",
                    "Connections that may be open; further ones are refused.")
               .Add({})),
      refused_(NewCounter(registry, "skiplane_connections_refused_total",
                          "Connections closed at once because too many were open.")
                   .Add({})),
      accept_failures_(NewCounter(registry, "skiplane_accept_failures_total",
                                  "Times that no connection could be accepted, for example for "
                                  "want of descriptors.")
                           .Add({})),
      port_answers_(NewGauge(registry, "skiplane_port_answers",
                             "1 while the broker's own connections to its port are answered.")
                        .Add({})) {}

void ConnectionMetrics::Set(int64_t open, int64_t max) {
  open_.Set(static_cast<double>(open));
  max_.Set(static_cast<double>(max));
}

void ConnectionMetrics::Refused() { refused_.Increment(); }

void ConnectionMetrics::AcceptFailed() { accept_failures_.Increment(); }

void ConnectionMetrics::SetPortAnswers(bool answers) { port_answers_.Set(answers ? 1 : 0); }

}  // namespace skiplane::metrics
