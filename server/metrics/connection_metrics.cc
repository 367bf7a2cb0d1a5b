#include "server/metrics/connection_metrics.h"

namespace skiplane::metrics {

ConnectionMetrics::ConnectionMetrics(Registry& registry)
    : open_(NewGauge(registry, "skiplane_connections", "Open connections of callers."),
            {"port", {}, {}}),
      max_(NewGauge(registry, "skiplane_max_connections",
                    "Connections that may be open; further ones are refused."),
           {"port", {}, {}}),
      refused_(NewCounter(registry, "skiplane_connections_refused_total",
                          "Connections closed at once because too many were open."),
               {"port", {}, {}}),
      cut_(NewCounter(registry, "skiplane_connections_cut_total",
                      "Connections by gRPC that were cut because they flooded the broker."),
           {"reason", {}, {}},
           {"answers", "bytes", "memory", "resets", "stalled", "streams", "unread"}),
      accept_failures_(NewCounter(registry, "skiplane_accept_failures_total",
                                  "Times that no connection could be accepted, for example for "
                                  "want of descriptors."),
                       {"port", {}, {}}),
      http_refused_(NewCounter(registry, "skiplane_http_refused_requests_total",
                               "Requests that the HTTP port refused, before a service had them."),
                    {"reason", {}, {}},
                    {"body", "caller", "content_type", "encoding", "method", "no_room", "path",
                     "request", "site", "size", "timeout"}),
      http_body_bytes_(NewGauge(registry, "skiplane_http_body_bytes",
                                "Bytes of large bodies that the HTTP port holds.")
                           .Add({})),
      port_answers_(NewGauge(registry, "skiplane_port_answers",
                             "1 while the broker's own connections to its port are answered.")
                        .Add({})) {}

void ConnectionMetrics::Set(absl::string_view port, int64_t open, int64_t max) {
  open_.At(port).Set(static_cast<double>(open));
  max_.At(port).Set(static_cast<double>(max));
  refused_.At(port);  // shown as 0 before the first one
  accept_failures_.At(port);
}

void ConnectionMetrics::Refused(absl::string_view port) { refused_.At(port).Increment(); }

void ConnectionMetrics::Cut(absl::string_view reason) { cut_.At(reason).Increment(); }

void ConnectionMetrics::AcceptFailed(absl::string_view port) {
  accept_failures_.At(port).Increment();
}

void ConnectionMetrics::HttpRefused(absl::string_view reason) {
  http_refused_.At(reason).Increment();
}

void ConnectionMetrics::HttpBodyHeld(int64_t bytes) {
  http_body_bytes_.Increment(static_cast<double>(bytes));
}

void ConnectionMetrics::SetPortAnswers(bool answers) { port_answers_.Set(answers ? 1 : 0); }

}  // namespace skiplane::metrics
