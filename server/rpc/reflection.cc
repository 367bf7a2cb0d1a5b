#include "server/rpc/reflection.h"

#include <memory>
#include <vector>

#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/impl/server_builder_option.h>

namespace skiplane::rpc {
namespace {

// gRPC's own switch holds for every server of the process; this one for the builder it is given to.
class ReflectionOption final : public grpc::ServerBuilderOption {
 public:
  void UpdateArguments(grpc::ChannelArguments*) override {}
  void UpdatePlugins(std::vector<std::unique_ptr<grpc::ServerBuilderPlugin>>* plugins) override {
    plugins->push_back(std::make_unique<grpc::reflection::ProtoServerReflectionPlugin>());
  }
};

}  // namespace

void AddReflection(grpc::ServerBuilder* builder) {
  builder->SetOption(std::make_unique<ReflectionOption>());
}

}  // namespace skiplane::rpc
