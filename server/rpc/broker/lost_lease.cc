#include "server/rpc/broker/lost_lease.h"

#include <algorithm>

namespace skiplane::rpc {
namespace {

void Count(absl::string_view call, int64_t items, metrics::Metrics& metrics) {
  if (items > 0) metrics.LeaseLost(call, items);
}

bool IsLost(const model::SettleResult& result) {
  return result.outcome == model::SettleOutcome::kLeaseLost;
}

}  // namespace

void CountLost(absl::string_view call, const std::vector<model::SettleResult>& results,
               metrics::Metrics& metrics) {
  Count(call, std::count_if(results.begin(), results.end(), &IsLost), metrics);
}

void CountLost(const broker::HeartbeatAnswer& beat, metrics::Metrics& metrics) {
  const auto lost = std::count(beat.states.begin(), beat.states.end(), model::LeaseState::kLost);
  Count("heartbeat", lost, metrics);
}

}  // namespace skiplane::rpc
