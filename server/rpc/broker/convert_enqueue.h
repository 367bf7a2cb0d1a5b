// Enqueue between the wire and the broker. Pure functions.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "server/broker/api/calls.h"
#include "skiplane/v1/broker.pb.h"

namespace skiplane::rpc {

// Every field is checked, except that a payload fits its queue's own bound, which the broker knows.
// Takes payloads and texts out of `request`.
absl::StatusOr<broker::EnqueueCall> ReadEnqueue(v1::EnqueueRequest* request);

void WriteEnqueueResult(const model::EnqueueResult& result, v1::EnqueueResult* wire);
void WriteEnqueue(std::vector<broker::EnqueueResult>* results, v1::EnqueueResponse* response);

}  // namespace skiplane::rpc
