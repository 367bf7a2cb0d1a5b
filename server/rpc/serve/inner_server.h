// The services once more, without a port: for the calls that the HTTP port passes on. A server of
// its own, because connections to the other one end after some time, and because only who calls
// here may say for whom it calls.
#pragma once

#include <grpcpp/grpcpp.h>

#include <memory>

#include "server/broker/api/broker.h"
#include "server/rpc/admin/admin_service.h"
#include "server/rpc/broker/broker_service.h"
#include "server/rpc/call/call.h"
#include "server/rpc/call/inner_channel.h"

namespace skiplane::rpc {

class InnerServer {
 public:
  // INTERNAL if gRPC cannot start it. What is referred to outlives the object.
  static absl::StatusOr<std::unique_ptr<InnerServer>> Start(broker::Broker& broker,
                                                            CallScope scope);

  std::shared_ptr<InnerChannel> channel() const { return channel_; }
  grpc::HealthCheckServiceInterface& health() const { return *server_->GetHealthCheckService(); }

  // Streams end.
  void DrainStreams() { admin_service_.DrainStreams(); }
  // Every call ends, and none begins any more. Idempotent.
  void Shutdown();

 private:
  InnerServer(broker::Broker& broker, CallScope scope)
      : broker_service_(broker, scope), admin_service_(broker, scope) {}

  BrokerService broker_service_;
  AdminService admin_service_;
  std::unique_ptr<grpc::Server> server_;
  std::shared_ptr<InnerChannel> channel_;
};

}  // namespace skiplane::rpc
