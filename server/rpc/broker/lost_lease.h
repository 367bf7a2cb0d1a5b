// Counts the items that fencing refused: it shows operators that workers lose their leases.
#pragma once

#include <vector>

#include "absl/strings/string_view.h"
#include "server/broker/api/calls.h"
#include "server/metrics/metrics.h"

namespace skiplane::rpc {

// `call`: "ack", "nack" or "settle".
void CountLost(absl::string_view call, const std::vector<model::SettleResult>& results,
               metrics::Metrics& metrics);
void CountLost(const broker::HeartbeatAnswer& beat, metrics::Metrics& metrics);

}  // namespace skiplane::rpc
