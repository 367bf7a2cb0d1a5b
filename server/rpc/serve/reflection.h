// grpc.reflection for one server, so that command-line clients can do without our .proto files: v1,
// and v1alpha for older clients.
#pragma once

#include <memory>

#include <grpcpp/impl/service_type.h>
#include <grpcpp/server_builder.h>

namespace skiplane::rpc {

// gRPC's library switches reflection on for every server of a process that is linked with it. This
// makes it a choice of the server: call it with false too. What is returned must outlive it.
std::unique_ptr<grpc::Service> SetReflection(bool on, grpc::ServerBuilder* builder);

}  // namespace skiplane::rpc
