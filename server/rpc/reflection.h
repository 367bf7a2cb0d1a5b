// grpc.reflection for one server, so that command-line clients can do without our .proto files.
#pragma once

#include <grpcpp/server_builder.h>

namespace skiplane::rpc {

// gRPC's library switches reflection on for every server of a process that is linked with it. This
// makes it a choice of the server: call it with false too.
void SetReflection(bool on, grpc::ServerBuilder* builder);

}  // namespace skiplane::rpc
