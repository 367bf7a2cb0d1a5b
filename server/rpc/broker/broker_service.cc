#include "server/rpc/broker/broker_service.h"

#include <memory>
#include <utility>
#include <vector>

#include "server/rpc/broker/convert_enqueue.h"
#include "server/rpc/broker/convert_heartbeat.h"
#include "server/rpc/broker/convert_lease.h"
#include "server/rpc/broker/lost_lease.h"
#include "server/rpc/broker/permit_settle.h"
#include "server/rpc/broker/produce_stream.h"
#include "server/rpc/broker/seal_tokens.h"
#include "server/rpc/broker/work_stream.h"
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
  auto read = ReadCall(*call, *request, &OpenTokens, &ReadAck);
  if (!read.ok()) return call->Refuse(read.status());
  BeginSettlement<v1::AckResponse>(call, "ack", *std::move(read));
  return call;
}

ServerUnaryReactor* BrokerService::Nack(CallbackServerContext* context, const ByteBuffer* request,
                                        ByteBuffer* reply) {
  auto* call = new UnaryCall(scope_, "skiplane.v1.BrokerService/Nack", {context, reply});
  auto read = ReadCall(*call, *request, &OpenTokens, &ReadNack);
  if (!read.ok()) return call->Refuse(read.status());
  SettleOnly<v1::NackResponse>(call, "nack", *std::move(read));
  return call;
}

ServerUnaryReactor* BrokerService::Settle(CallbackServerContext* context, const ByteBuffer* request,
                                          ByteBuffer* reply) {
  auto* call = new LeaseCall(scope_, "skiplane.v1.BrokerService/Settle", {context, reply}, broker_);
  auto read = ReadCall(*call, *request, &OpenTokens, &ReadSettle);
  if (!read.ok()) return call->Refuse(read.status());
  BeginSettlement<v1::SettleResponse>(call, "settle", *std::move(read));
  return call;
}

template <typename Response>
void BrokerService::SettleOnly(UnaryCall* call, absl::string_view name, SettleCall settle) {
  broker_.Settle(std::move(settle.items), call->PartyName(),
                 [call, name, paths = std::move(settle.paths), &metrics = scope_.metrics](
                     absl::StatusOr<std::vector<model::SettleResult>> results) {
                   if (results.ok()) {
                     CountLost(name, *results, metrics);
                     NamePaths(paths, &*results);
                   }
                   Deliver<Response>(call, std::move(results), &WriteSettled<Response>);
                 });
}

template <typename Response>
void BrokerService::BeginSettlement(LeaseCall* call, absl::string_view name, SettleCall settle) {
  OwnFollowUps(call->ProvenName(), call->PartyName(), settle);
  if (!settle.lease.has_value()) {
    SettleOnly<Response>(call, name, std::move(settle));
    return;
  }
  NameCaller(*call, *settle.lease);
  call->Begin({std::move(settle.items), *std::move(settle.lease)},
              [name, paths = std::move(settle.paths), seal = call->seal(),
               &metrics = scope_.metrics](broker::SettleAndLeaseAnswer* answer) {
                CountLost(name, answer->results, metrics);
                NamePaths(paths, &answer->results);
                auto response = std::make_unique<Response>();
                WriteBoth(answer, response.get());
                if (response->has_lease()) SealTokens(seal, response->mutable_lease());
                return response;
              });
}

ServerUnaryReactor* BrokerService::Heartbeat(CallbackServerContext* context,
                                             const ByteBuffer* request, ByteBuffer* reply) {
  auto* call = new UnaryCall(scope_, "skiplane.v1.BrokerService/Heartbeat", {context, reply});
  auto read = ReadCall(*call, *request, &OpenTokens, &ReadHeartbeat);
  if (!read.ok()) return call->Refuse(read.status());
  const bool ends = read->end_session;  // then the leases are over because the worker says so
  broker_.Heartbeat(*std::move(read), [call, ends, &metrics = scope_.metrics](
                                          absl::StatusOr<broker::HeartbeatAnswer> answer) {
    if (answer.ok() && !ends) CountLost(*answer, metrics);
    Deliver<v1::HeartbeatResponse>(call, std::move(answer), &WriteHeartbeat);
  });
  return call;
}

grpc::ServerBidiReactor<ByteBuffer, ByteBuffer>* BrokerService::Work(
    CallbackServerContext* context) {
  auto* stream = new WorkStream(scope_, {streams_, workers_}, context, broker_);
  stream->Begin();
  return stream;
}

grpc::ServerBidiReactor<ByteBuffer, ByteBuffer>* BrokerService::Produce(
    CallbackServerContext* context) {
  auto* stream = new ProduceStream(scope_, streams_, context, broker_);
  stream->Begin();
  return stream;
}

}  // namespace skiplane::rpc
