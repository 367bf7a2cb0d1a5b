// The benchmark's connections to brokers.
#pragma once

#include <grpcpp/channel.h>
#include <grpcpp/security/credentials.h>

#include <memory>
#include <string>

namespace skiplane::bench {

// gRPC ends its callback threads with the last channel that uses them; where that happens on one of
// these threads, 1.51 frees what it still uses and aborts. So channels stay until the process ends.
// Not thread-safe.
std::shared_ptr<grpc::Channel> KeptChannel(
    const std::string& address,
    const std::shared_ptr<grpc::ChannelCredentials>& credentials =
        grpc::InsecureChannelCredentials());

}  // namespace skiplane::bench
