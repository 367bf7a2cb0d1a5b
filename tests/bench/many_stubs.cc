#include "tests/bench/many_stubs.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>

namespace skiplane::bench {
namespace {

constexpr size_t kCallersPerConnection = 100;

}  // namespace

ManyStubs::ManyStubs(const std::string& address, size_t callers) {
  grpc::ChannelArguments arguments;
  // Else all channels to one address share a connection.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  for (size_t i = 0; i < callers; i += kCallersPerConnection) {
    stubs_.push_back(v1::BrokerService::NewStub(
        grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments)));
  }
}

}  // namespace skiplane::bench
