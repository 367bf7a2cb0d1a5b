#include "server/rpc/stale_lease.h"

#include <algorithm>

namespace skiplane::rpc {
namespace {

void Count(absl::string_view rpc, int64_t items, metrics::Metrics& metrics) {
  if (items > 0) metrics.StaleLeaseRefused(rpc, items);
}

}  // namespace

void CountStale(const std::vector<model::SettleOutcome>& acks, metrics::Metrics& metrics) {
  Count("Ack", std::count(acks.begin(), acks.end(), model::SettleOutcome::kLeaseLost), metrics);
}

void CountStale(const std::vector<model::NackResult>& nacks, metrics::Metrics& metrics) {
  const auto is_lost = [](const model::NackResult& nack) {
    return nack.outcome == model::SettleOutcome::kLeaseLost;
  };
  Count("Nack", std::count_if(nacks.begin(), nacks.end(), is_lost), metrics);
}

void CountStale(const broker::HeartbeatAnswer& beat, metrics::Metrics& metrics) {
  const auto lost = std::count(beat.states.begin(), beat.states.end(), model::LeaseState::kLost);
  Count("Heartbeat", lost, metrics);
}

}  // namespace skiplane::rpc
