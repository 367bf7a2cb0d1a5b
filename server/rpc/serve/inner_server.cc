#include "server/rpc/serve/inner_server.h"

#include <grpc/grpc.h>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "server/rpc/serve/reflection.h"

namespace skiplane::rpc {

absl::StatusOr<std::unique_ptr<InnerServer>> InnerServer::Start(broker::Broker& broker,
                                                                CallScope scope) {
  scope.is_passed_on = true;
  scope.stream_age = absl::InfiniteDuration();  // no connection grows old
  std::unique_ptr<InnerServer> inner(new InnerServer(broker, scope));
  grpc::ServerBuilder builder;
  // The services bound requests by themselves, and what they answer must be sent.
  builder.SetMaxReceiveMessageSize(-1);
  builder.SetMaxSendMessageSize(-1);
  builder.RegisterService(&inner->broker_service_);
  builder.RegisterService(&inner->admin_service_);
  SetReflection(false, &builder);
  inner->server_ = builder.BuildAndStart();
  if (inner->server_ == nullptr) {
    return absl::InternalError("gRPC cannot start its inner server; its own log says why");
  }
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  arguments.SetMaxSendMessageSize(-1);
  inner->channel_ = std::make_shared<InnerChannel>(inner->server_->InProcessChannel(arguments));
  return inner;
}

void InnerServer::Shutdown() {
  channel_->Close();
  grpc_server_cancel_all_calls(server_->c_server());
  server_->Shutdown(absl::ToChronoTime(absl::Now()));
}

}  // namespace skiplane::rpc
