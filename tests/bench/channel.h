// The benchmark's connections to brokers.
#pragma once

#include <grpcpp/channel.h>

#include <memory>
#include <string>

namespace skiplane::bench {

// gRPC 1.51 aborts, once in hundreds of runs on a busy machine, in the count of its references when
// a channel ends while its last callback returns. So channels stay until the process ends. Not
// thread-safe.
std::shared_ptr<grpc::Channel> KeptChannel(const std::string& address);

}  // namespace skiplane::bench
