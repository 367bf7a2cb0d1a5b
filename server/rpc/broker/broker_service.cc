#include "server/rpc/broker/broker_service.h"

#include <utility>
#include <vector>

#include "server/rpc/broker/convert_enqueue.h"
#include "server/rpc/broker/convert_heartbeat.h"
#include "server/rpc/broker/convert_lease.h"
#include "server/rpc/broker/convert_settle.h"
#include "server/rpc/broker/lease_call.h"
#include "server/rpc/broker/lost_lease.h"
#include "server/rpc/call/call_wire.h"
#include "server/rpc/call/reply.h"

namespace skiplane::rpc {

using grpc::ByteBuffer;
using grpc::CallbackServerContext;
using grpc::ServerUnaryReactor;

ServerUnaryReactor* BrokerService::Enqueue(CallbackServerContext* context,
                                           const ByteBuffer* request, ByteBuffer* reply) {
  auto* call = new UnaryCall(scope_, "skiplane.v1.BrokerService/Enqueue", {context, reply});
  auto read = ReadCall(*call, *request, &ReadEnqueue);
  if (!read.ok()) return call->Refuse(read.status());
  broker_.Enqueue(*std::move(read), ReplyWith(call, &WriteEnqueue));
  return call;
}

ServerUnaryReactor* BrokerService::Lease(CallbackServerContext* context, const ByteBuffer* request,
                                         ByteBuffer* reply) {
  auto* call = new LeaseCall(scope_, "skiplane.v1.BrokerService/Lease", {context, reply}, broker_);
  auto read = ReadCall(*call, *request, &ReadLease);
  if (!read.ok()) return call->Refuse(read.status());
  call->Begin(*std::move(read));
  return call;
}

ServerUnaryReactor* BrokerService::Ack(CallbackServerContext* context, const ByteBuffer* request,
                                       ByteBuffer* reply) {
  auto* call = new LeaseCall(scope_, "skiplane.v1.BrokerService/Ack", {context, reply}, broker_);
  auto read = ReadCall(*call, *request, &ReadAck);
  if (!read.ok()) return call->Refuse(read.status());
  if (read->lease.has_value()) {
    call->Begin(broker::AckAndLeaseCall{std::move(read->items), *std::move(read->lease)});
    return call;
  }
  broker_.Ack(std::move(read->items), [call, &metrics = scope_.metrics](
                                    absl::StatusOr<std::vector<model::AckResult>> results) {
    if (results.ok()) CountLost(*results, metrics);
    Deliver<v1::AckResponse>(call, std::move(results), &WriteAck);
  });
  return call;
}

ServerUnaryReactor* BrokerService::Nack(CallbackServerContext* context, const ByteBuffer* request,
                                        ByteBuffer* reply) {
  auto* call = new UnaryCall(scope_, "skiplane.v1.BrokerService/Nack", {context, reply});
  auto read = ReadCall(*call, *request, &ReadNack);
  if (!read.ok()) return call->Refuse(read.status());
  broker_.Nack(*std::move(read), [call, &metrics = scope_.metrics](
                                     absl::StatusOr<std::vector<model::NackResult>> results) {
    if (results.ok()) CountLost(*results, metrics);
    Deliver<v1::NackResponse>(call, std::move(results), &WriteNack);
  });
  return call;
}

ServerUnaryReactor* BrokerService::Heartbeat(CallbackServerContext* context,
                                             const ByteBuffer* request, ByteBuffer* reply) {
  auto* call = new UnaryCall(scope_, "skiplane.v1.BrokerService/Heartbeat", {context, reply});
  auto read = ReadCall(*call, *request, &ReadHeartbeat);
  if (!read.ok()) return call->Refuse(read.status());
  const bool ends = read->end_session;  // then the leases are over because the worker says so
  broker_.Heartbeat(*std::move(read), [call, ends, &metrics = scope_.metrics](
                                          absl::StatusOr<broker::HeartbeatAnswer> answer) {
    if (answer.ok() && !ends) CountLost(*answer, metrics);
    Deliver<v1::HeartbeatResponse>(call, std::move(answer), &WriteHeartbeat);
  });
  return call;
}

}  // namespace skiplane::rpc
