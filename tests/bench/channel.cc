#include "tests/bench/channel.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>

#include <vector>

namespace skiplane::bench {

std::shared_ptr<grpc::Channel> KeptChannel(const std::string& address) {
  static auto* const kept = new std::vector<std::shared_ptr<grpc::Channel>>();
  kept->push_back(grpc::CreateChannel(address, grpc::InsecureChannelCredentials()));
  return kept->back();
}

}  // namespace skiplane::bench
