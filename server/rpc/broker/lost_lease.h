// Counts the items that fencing refused: it shows operators that workers lose their leases.
#pragma once

#include <vector>

#include "server/broker/api/calls.h"
#include "server/metrics/metrics.h"

namespace skiplane::rpc {

void CountLost(const std::vector<model::AckResult>& acks, metrics::Metrics& metrics);
void CountLost(const std::vector<model::NackResult>& nacks, metrics::Metrics& metrics);
void CountLost(const broker::HeartbeatAnswer& beat, metrics::Metrics& metrics);

}  // namespace skiplane::rpc
