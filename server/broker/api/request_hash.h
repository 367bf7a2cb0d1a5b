// Hashes that every broker and every version computes alike: they decide lanes and compare bodies.
#pragma once

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "server/broker/api/calls.h"
#include "server/model/report.h"

namespace skiplane::broker {

// FNV-1a with a final mix. Never changes: the lane of a key follows from it.
uint64_t StableHash(absl::string_view text);

// SHA-256 of everything in the call but its request id, in a form that does not depend on the order
// of header entries, nor on whether a task's queue is named by the task or by the call.
std::string HashBody(const EnqueueCall& call);

// What stands in the ledger for a worker's request id: 40 hexadecimal digits of SHA-256. Who knows
// both may have the leases again, and PostgreSQL's log shows values that conflict.
std::string HashLeaseRequest(absl::string_view worker_id, absl::string_view request_id);

// Of an operator's change; `body` is the request without its id. SHA-256. Each principal has ids of
// its own: nobody takes another's, or learns of it.
model::RequestHash HashChange(absl::string_view principal, absl::string_view request_id,
                              absl::string_view method, absl::string_view body);

}  // namespace skiplane::broker
