// Heartbeat between the wire and the broker. Pure functions.
#pragma once

#include "absl/status/statusor.h"
#include "server/broker/api/calls.h"
#include "skiplane/v1/broker.pb.h"

namespace skiplane::rpc {

absl::StatusOr<broker::HeartbeatCall> ReadHeartbeat(v1::HeartbeatRequest* request);
void WriteHeartbeat(broker::HeartbeatAnswer* answer, v1::HeartbeatResponse* response);

}  // namespace skiplane::rpc
