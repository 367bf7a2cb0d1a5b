// skiplane.v1.BrokerService: what producers and workers call.
//
// Each handler checks its request, passes it to the broker and returns; the broker's thread makes
// the reply. Nothing here blocks. Thread-safe.
#pragma once

#include <grpcpp/grpcpp.h>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "server/broker/api/broker.h"
#include "server/rpc/broker/convert_settle.h"
#include "server/rpc/broker/lease_call.h"
#include "server/rpc/broker/worker_streams.h"
#include "server/rpc/call/call.h"
#include "server/rpc/stream/stream_set.h"
#include "skiplane/v1/broker.grpc.pb.h"

namespace skiplane::rpc {

using RawBrokerService = v1::BrokerService::WithRawCallbackMethod_Enqueue<
    v1::BrokerService::WithRawCallbackMethod_Lease<v1::BrokerService::WithRawCallbackMethod_Ack<
        v1::BrokerService::WithRawCallbackMethod_Nack<
            v1::BrokerService::WithRawCallbackMethod_Settle<
                v1::BrokerService::WithRawCallbackMethod_Heartbeat<
                    v1::BrokerService::WithRawCallbackMethod_Work<
                        v1::BrokerService::WithRawCallbackMethod_Produce<
                            v1::BrokerService::Service>>>>>>>>;

class BrokerService final : public RawBrokerService {
 public:
  BrokerService(broker::Broker& broker, CallScope scope)
      : broker_(broker), scope_(scope), streams_(scope.stream_age) {}

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
  grpc::ServerUnaryReactor* Settle(grpc::CallbackServerContext* context,
                                   const grpc::ByteBuffer* request,
                                   grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* Heartbeat(grpc::CallbackServerContext* context,
                                      const grpc::ByteBuffer* request,
                                      grpc::ByteBuffer* reply) override;
  grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* Work(
      grpc::CallbackServerContext* context) override;
  grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* Produce(
      grpc::CallbackServerContext* context) override;

  // Somebody took leases from some workers: those with a stream are told.
  void TellLeasesTaken() { workers_.TellLeasesTaken(); }
  // Sessions ended or were lost: those of their workers end.
  void TellSessionsGone(absl::Span<const model::SessionId> sessions) {
    workers_.TellSessionsGone(sessions);
  }

  // The server shuts down: streams end when all that came is answered.
  void DrainStreams() { streams_.Drain(); }

 private:
  // `name`: the call's, for the metrics.
  template <typename Response>
  void SettleOnly(UnaryCall* call, absl::string_view name, SettleCall settle);
  // Leases the next tasks, too, if that is asked for.
  template <typename Response>
  void BeginSettlement(LeaseCall* call, absl::string_view name, SettleCall settle);

  broker::Broker& broker_;
  const CallScope scope_;
  StreamSet streams_;
  WorkerStreams workers_;
};

}  // namespace skiplane::rpc
