#include "server/rpc/broker/stale_lease.h"

#include <algorithm>

namespace skiplane::rpc {
namespace {

void Count(absl::string_view rpc, int64_t items, metrics::Metrics& metrics) {
  if (items > 0) metrics.StaleLeaseRefused(rpc, items);
}

template <typename Result>
bool IsLost(const Result& result) {
  return result.outcome == model::SettleOutcome::kLeaseLost;
}

}  // namespace

void CountStale(const std::vector<model::AckResult>& acks, metrics::Metrics& metrics) {
  Count("Ack", std::count_if(acks.begin(), acks.end(), &IsLost<model::AckResult>), metrics);
}

void CountStale(const std::vector<model::NackResult>& nacks, metrics::Metrics& metrics) {
  Count("Nack", std::count_if(nacks.begin(), nacks.end(), &IsLost<model::NackResult>), metrics);
}

void CountStale(const broker::HeartbeatAnswer& beat, metrics::Metrics& metrics) {
  const auto lost = std::count(beat.states.begin(), beat.states.end(), model::LeaseState::kLost);
  Count("Heartbeat", lost, metrics);
}

}  // namespace skiplane::rpc
