#include "server/rpc/serve/reflection.h"

#include <string>
#include <utility>
#include <vector>

#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/impl/server_builder_option.h>

#include "grpc/health/v1/health.pb.h"
#include "server/rpc/serve/grpc_versions.h"
#include "skiplane/v1/admin.grpc.pb.h"
#include "skiplane/v1/broker.grpc.pb.h"

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

std::unique_ptr<grpc::Service> SetReflection(bool on, grpc::ServerBuilder* builder) {
  builder->SetOption(std::make_unique<ReflectionOption>(on));
  if (!on) return nullptr;
  // Also has the linker take its description in.
  const auto* const health = grpc::health::v1::HealthCheckRequest::descriptor()->file()->service(0);
  auto service = ReflectionV1({skiplane::v1::BrokerService::service_full_name(),
                               skiplane::v1::AdminService::service_full_name(),
                               std::string(health->full_name()),
                               "grpc.reflection.v1.ServerReflection",
                               "grpc.reflection.v1alpha.ServerReflection"});
  if (service != nullptr) builder->RegisterService(service.get());
  return service;
}

}  // namespace skiplane::rpc
