#include "server/rpc/reflection.h"

#include <memory>
#include <vector>

#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/impl/server_builder_option.h>

namespace skiplane::rpc {
namespace {

using grpc::reflection::ProtoServerReflectionPlugin;
using Plugin = std::unique_ptr<grpc::ServerBuilderPlugin>;

class ReflectionOption final : public grpc::ServerBuilderOption {
 public:
  explicit ReflectionOption(bool on) : on_(on) {}

  void UpdateArguments(grpc::ChannelArguments*) override {}
  void UpdatePlugins(std::vector<Plugin>* plugins) override {
    const std::string name = ProtoServerReflectionPlugin().name();
    std::erase_if(*plugins, [&name](const Plugin& plugin) { return plugin->name() == name; });
    if (on_) plugins->push_back(std::make_unique<ProtoServerReflectionPlugin>());
  }

 private:
  const bool on_;
};

}  // namespace

void SetReflection(bool on, grpc::ServerBuilder* builder) {
  builder->SetOption(std::make_unique<ReflectionOption>(on));
}

}  // namespace skiplane::rpc
