#include "tests/bench/channel.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/support/channel_arguments.h>

#include <vector>

namespace skiplane::bench {

std::shared_ptr<grpc::Channel> KeptChannel(
    const std::string& address, const std::shared_ptr<grpc::ChannelCredentials>& credentials) {
  static auto* const kept = new std::vector<std::shared_ptr<grpc::Channel>>();
  grpc::ChannelArguments arguments;
  arguments.SetSslTargetNameOverride("localhost");  // that is who the certificate is for
  kept->push_back(grpc::CreateCustomChannel(address, credentials, arguments));
  return kept->back();
}

}  // namespace skiplane::bench
