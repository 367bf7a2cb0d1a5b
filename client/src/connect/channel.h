// Makes the gRPC channel of one address: credentials from files, keep-alive that matches the
// broker's, quick reconnection.
#pragma once

#include <grpcpp/channel.h>

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "skiplane/options.h"

namespace grpc {
class ChannelCredentials;
}

namespace skiplane::internal {

// Reads the files of `tls`; NOT_FOUND names the one that cannot be read.
absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> MakeCredentials(const TlsOptions& tls);

std::shared_ptr<grpc::Channel> MakeChannel(
    const std::string& address, const std::shared_ptr<grpc::ChannelCredentials>& credentials,
    const TlsOptions& tls);

}  // namespace skiplane::internal
