// From gRPC's status to absl::Status, with the reason as a payload that skiplane/error.h reads.
#pragma once

#include <grpcpp/support/status.h>

#include "absl/status/status.h"

namespace skiplane::internal {

absl::Status FromGrpc(const grpc::Status& status);

}  // namespace skiplane::internal
