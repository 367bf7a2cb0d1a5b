// grpc.reflection for one server, so that command-line clients can call it without our .proto files.
#pragma once

#include <grpcpp/server_builder.h>

namespace skiplane::rpc {

void AddReflection(grpc::ServerBuilder* builder);

}  // namespace skiplane::rpc
