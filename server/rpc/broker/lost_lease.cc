#include "server/rpc/broker/lost_lease.h"

#include <algorithm>

namespace skiplane::rpc {
namespace {

void Count(absl::string_view call, int64_t items, metrics::Metrics& metrics) {
  if (items > 0) metrics.LeaseLost(call, items);
}

template <typename Result>
bool IsLost(const Result& result) {
  return result.outcome == model::SettleOutcome::kLeaseLost;
}

}  // namespace

void CountLost(const std::vector<model::AckResult>& acks, metrics::Metrics& metrics) {
  Count("ack", std::count_if(acks.begin(), acks.end(), &IsLost<model::AckResult>), metrics);
}

void CountLost(const std::vector<model::NackResult>& nacks, metrics::Metrics& metrics) {
  Count("nack", std::count_if(nacks.begin(), nacks.end(), &IsLost<model::NackResult>), metrics);
}

void CountLost(const broker::HeartbeatAnswer& beat, metrics::Metrics& metrics) {
  const auto lost = std::count(beat.states.begin(), beat.states.end(), model::LeaseState::kLost);
  Count("heartbeat", lost, metrics);
}

}  // namespace skiplane::rpc
