// From gRPC's status to absl::Status, with the reason as a payload that skiplane/error.h reads.
#pragma once

#include <grpcpp/support/status.h>

#include "absl/status/status.h"
#include "skiplane/v1/broker.pb.h"

namespace skiplane::internal {

absl::Status FromGrpc(const grpc::Status& status);

// The refusal of a part of a call.
absl::Status FromProto(const v1::Refusal& refusal);

// Whether a repeat, of what does no harm twice, has a chance. RESOURCE_EXHAUSTED without a hint is
// gRPC's own: a message that is too large would be so again.
bool MayPass(const absl::Status& status);

}  // namespace skiplane::internal
