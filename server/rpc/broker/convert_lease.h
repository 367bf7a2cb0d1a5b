// Lease between the wire and the broker. Pure functions.
#pragma once

#include "absl/status/statusor.h"
#include "server/broker/api/calls.h"
#include "skiplane/v1/broker.pb.h"

namespace skiplane::rpc {

// Every field is checked; `wait` is as the caller asked. Takes the texts out of `request`.
absl::StatusOr<broker::LeaseCall> ReadLease(v1::LeaseRequest* request);

// Takes payloads, content types, headers and keys out of `answer`; what names the leases stays.
void WriteLease(broker::LeaseAnswer* answer, v1::LeaseResponse* response);

}  // namespace skiplane::rpc
