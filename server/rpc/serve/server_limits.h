// What one connection may do, as gRPC settings with the reasons for their sizes.
#pragma once

#include <grpcpp/server_builder.h>

#include "server/rpc/serve/server.h"

namespace skiplane::rpc {

void ApplyLimits(const ServerLimits& limits, grpc::ServerBuilder* builder);

}  // namespace skiplane::rpc
