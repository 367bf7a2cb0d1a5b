// What the gRPC of Debian 12 and newer ones do not have in common. Which of them this is built with
// says the CMake option SKIPLANE_NEWER_GRPC.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <grpc/grpc_security.h>
#include <grpcpp/impl/service_type.h>
#include <grpcpp/security/server_credentials.h>

#include "absl/strings/string_view.h"

namespace skiplane::rpc {

struct GrpcMessage {
  absl::string_view severity;  // "ERROR"
  absl::string_view file;
  int line = 0;
  absl::string_view text;
};

// From now on `take` is told what gRPC's library says, on any thread, and standard error is not.
// Idempotent.
void TakeGrpcMessages(void (*take)(const GrpcMessage&));

// Those of the C library for C++. Takes over `credentials`.
std::shared_ptr<grpc::ServerCredentials> Owned(grpc_server_credentials* credentials);

// grpc.reflection.v1 that lists `services`, for a server that gRPC's own reflection is added to;
// nothing if that one answers v1, too.
std::unique_ptr<grpc::Service> ReflectionV1(std::vector<std::string> services);

}  // namespace skiplane::rpc
