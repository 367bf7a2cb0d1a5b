// skiplane.v1.BrokerService: what producers and workers call.
//
// Each handler checks its request, passes it to the broker and returns; the broker's thread makes
// the reply. Nothing here blocks. Thread-safe.
#pragma once

#include <grpcpp/grpcpp.h>

#include "server/broker/api/broker.h"
#include "server/rpc/call/call.h"
#include "skiplane/v1/broker.grpc.pb.h"

namespace skiplane::rpc {

using RawBrokerService = v1::BrokerService::WithRawCallbackMethod_Enqueue<
    v1::BrokerService::WithRawCallbackMethod_Lease<v1::BrokerService::WithRawCallbackMethod_Ack<
        v1::BrokerService::WithRawCallbackMethod_Nack<
            v1::BrokerService::WithRawCallbackMethod_Heartbeat<v1::BrokerService::Service>>>>>;

class BrokerService final : public RawBrokerService {
 public:
  BrokerService(broker::Broker& broker, CallScope scope) : broker_(broker), scope_(scope) {}

  grpc::ServerUnaryReactor* Enqueue(grpc::CallbackServerContext* context,
                                    const grpc::ByteBuffer* request,
                                    grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* Lease(grpc::CallbackServerContext* context,
                                  const grpc::ByteBuffer* request,
                                  grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* Ack(grpc::CallbackServerContext* context,
                                const grpc::ByteBuffer* request,
                                grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* Nack(grpc::CallbackServerContext* context,
                                 const grpc::ByteBuffer* request,
                                 grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* Heartbeat(grpc::CallbackServerContext* context,
                                      const grpc::ByteBuffer* request,
                                      grpc::ByteBuffer* reply) override;

 private:
  broker::Broker& broker_;
  const CallScope scope_;
};

}  // namespace skiplane::rpc
