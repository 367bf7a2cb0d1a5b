#include "tests/rpc/front.h"

#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "google/rpc/status.pb.h"
#include "tests/support/require.h"

namespace skiplane::rpc {
namespace {

void SetDeadline(grpc::ClientContext* context) {
  context->set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));
}

template <typename Stub, typename Request, typename Response>
grpc::Status Unary(Stub& stub,
                   grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Response*),
                   const Request& request, Response* response) {
  grpc::ClientContext context;
  SetDeadline(&context);
  return (stub.*method)(&context, request, response);
}

const access::TokenSealer& Sealer() {
  static const auto* const sealer = new access::TokenSealer();
  return *sealer;
}

access::TokenSeal Seal() { return Sealer().For(access::kAnonymous); }

}  // namespace

Front::Front(FakeBroker::Behaviour behaviour, ServerOptions options) {
  broker.behaviour = std::move(behaviour);
  if (options.listen.empty()) options.listen = "127.0.0.1:0";
  if (options.sealer == nullptr) options.sealer = &Sealer();
  server = testing::Required(Server::Start(options, broker, metrics));
  channel = grpc::CreateChannel(address(), grpc::InsecureChannelCredentials());
  stub = v1::BrokerService::NewStub(channel);
  admin = v1::AdminService::NewStub(channel);
}

std::string Front::address() const { return absl::StrCat("127.0.0.1:", server->port()); }

using BrokerStub = v1::BrokerService::Stub;
using AdminStub = v1::AdminService::Stub;

grpc::Status Front::Call(const v1::EnqueueRequest& request, v1::EnqueueResponse* response) {
  return Unary(*stub, &BrokerStub::Enqueue, request, response);
}
grpc::Status Front::Call(const v1::LeaseRequest& request, v1::LeaseResponse* response) {
  return Unary(*stub, &BrokerStub::Lease, request, response);
}
grpc::Status Front::Call(const v1::AckRequest& request, v1::AckResponse* response) {
  return Unary(*stub, &BrokerStub::Ack, request, response);
}
grpc::Status Front::Call(const v1::NackRequest& request, v1::NackResponse* response) {
  return Unary(*stub, &BrokerStub::Nack, request, response);
}
grpc::Status Front::Call(const v1::SettleRequest& request, v1::SettleResponse* response) {
  return Unary(*stub, &BrokerStub::Settle, request, response);
}
grpc::Status Front::Call(const v1::HeartbeatRequest& request, v1::HeartbeatResponse* response) {
  return Unary(*stub, &BrokerStub::Heartbeat, request, response);
}
grpc::Status Front::Call(const v1::CreateQueueRequest& request,
                         v1::CreateQueueResponse* response) {
  return Unary(*admin, &AdminStub::CreateQueue, request, response);
}
grpc::Status Front::Call(const v1::GetQueueRequest& request, v1::GetQueueResponse* response) {
  return Unary(*admin, &AdminStub::GetQueue, request, response);
}
grpc::Status Front::Call(const v1::ListQueuesRequest& request, v1::ListQueuesResponse* response) {
  return Unary(*admin, &AdminStub::ListQueues, request, response);
}
grpc::Status Front::Call(const v1::UpdateQueueRequest& request,
                         v1::UpdateQueueResponse* response) {
  return Unary(*admin, &AdminStub::UpdateQueue, request, response);
}
grpc::Status Front::Call(const v1::PauseQueueRequest& request, v1::PauseQueueResponse* response) {
  return Unary(*admin, &AdminStub::PauseQueue, request, response);
}
grpc::Status Front::Call(const v1::ResumeQueueRequest& request,
                         v1::ResumeQueueResponse* response) {
  return Unary(*admin, &AdminStub::ResumeQueue, request, response);
}
grpc::Status Front::Call(const v1::GetTaskRequest& request, v1::GetTaskResponse* response) {
  return Unary(*admin, &AdminStub::GetTask, request, response);
}

std::string ErrorDetails::Field() const {
  if (bad_request.field_violations_size() != 1) return "";
  return bad_request.field_violations(0).field();
}

ErrorDetails Decode(const grpc::Status& status) {
  google::rpc::Status wire;
  ErrorDetails details;
  if (!wire.ParseFromString(status.error_details())) return details;
  for (const google::protobuf::Any& detail : wire.details()) {
    if (detail.UnpackTo(&details.info) || detail.UnpackTo(&details.bad_request)) continue;
    detail.UnpackTo(&details.retry);
  }
  return details;
}

std::string GoodToken() { return model::EncodeLeaseToken({{7, 1}, 42, {1, 2, 3}, 1, 0, 0}); }

std::string SealedToken() {
  std::string token = GoodToken();
  Seal().Seal(&token);
  return token;
}

std::string Opened(absl::string_view token) {
  return std::string(Seal().Open(token).value_or(""));
}

broker::LeaseAnswer SomeTasks(int count) {
  broker::LeaseAnswer answer;
  for (int i = 1; i <= count; ++i) {
    model::LeasedTask task;
    task.token = {{7, i}, 1000 + i, {9}, 1, 0, 0};
    task.queue = "mail";
    task.payload = absl::StrCat("payload ", i);
    task.create_time = absl::FromUnixSeconds(1700000000);
    task.schedule_time = absl::FromUnixSeconds(1700000001);
    answer.tasks.push_back(std::move(task));
  }
  answer.lease_remaining = absl::Seconds(30);
  return answer;
}

}  // namespace skiplane::rpc
