// What a listener proves and asks for: TLS from PEM files, or nothing.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <grpcpp/security/server_credentials.h>

#include "absl/status/statusor.h"
#include "server/rpc/server.h"

namespace skiplane::rpc {

// Plain text without `tls`. FAILED_PRECONDITION, naming the file, if one cannot be read, and if the
// key does not belong to the certificate.
absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> MakeCredentials(
    const std::optional<TlsFiles>& tls);

}  // namespace skiplane::rpc
