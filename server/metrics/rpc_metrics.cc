#include "server/metrics/rpc_metrics.h"

namespace skiplane::metrics {
namespace {

// Up to the longest wait of a Lease.
Buckets DurationBuckets() {
  return {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,
          0.25,   0.5,   1,      2.5,   5,    10,    30,   60};
}

}  // namespace

RpcMetrics::RpcMetrics(Registry& registry)
    : started_(NewCounter(registry, "grpc_server_call_started_total", "Calls that arrived."),
               {"grpc_method", {}, {}}),
      exhausted_(NewCounter(registry, "skiplane_exhausted_calls_total",
                            "Calls that were refused as RESOURCE_EXHAUSTED, by reason."),
                 {"reason", {}, {}}),
      durations_(NewHistogram(registry, "grpc_server_call_duration_seconds",
                              "Time from a call's arrival to its status; a Lease may wait.")) {}

void RpcMetrics::Started(absl::string_view method) { started_.At(method).Increment(); }

void RpcMetrics::Exhausted(absl::string_view reason) { exhausted_.At(reason).Increment(); }

void RpcMetrics::Ended(absl::string_view method, absl::string_view status,
                       absl::Duration duration) {
  base::MutexLock lock(mutex_);
  auto found = by_method_.find(method);
  if (found == by_method_.end()) {
    const prometheus::Labels fixed = {{"grpc_method", std::string(method)}};
    SeriesSet<Histogram> series(durations_, {"grpc_status", fixed, DurationBuckets()});
    found = by_method_.emplace(method, std::move(series)).first;
  }
  found->second.At(status).Observe(absl::ToDoubleSeconds(duration));
}

}  // namespace skiplane::metrics
