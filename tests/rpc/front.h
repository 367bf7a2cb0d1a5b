// A real server on a free port of the loopback in front of a fake broker, and a client of it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <grpcpp/grpcpp.h>

#include "absl/strings/string_view.h"
#include "google/rpc/error_details.pb.h"
#include "server/rpc/serve/server.h"
#include "skiplane/v1/admin.grpc.pb.h"
#include "skiplane/v1/broker.grpc.pb.h"
#include "tests/rpc/fake_broker.h"

namespace skiplane::rpc {

class Front {
 public:
  explicit Front(FakeBroker::Behaviour behaviour = {}, ServerOptions options = {});

  std::string address() const;

  // Every call has a generous deadline.
  grpc::Status Call(const v1::EnqueueRequest& request, v1::EnqueueResponse* response);
  grpc::Status Call(const v1::LeaseRequest& request, v1::LeaseResponse* response);
  grpc::Status Call(const v1::AckRequest& request, v1::AckResponse* response);
  grpc::Status Call(const v1::NackRequest& request, v1::NackResponse* response);
  grpc::Status Call(const v1::SettleRequest& request, v1::SettleResponse* response);
  grpc::Status Call(const v1::HeartbeatRequest& request, v1::HeartbeatResponse* response);
  grpc::Status Call(const v1::CreateQueueRequest& request, v1::CreateQueueResponse* response);
  grpc::Status Call(const v1::GetQueueRequest& request, v1::GetQueueResponse* response);
  grpc::Status Call(const v1::ListQueuesRequest& request, v1::ListQueuesResponse* response);
  grpc::Status Call(const v1::UpdateQueueRequest& request, v1::UpdateQueueResponse* response);
  grpc::Status Call(const v1::PauseQueueRequest& request, v1::PauseQueueResponse* response);
  grpc::Status Call(const v1::ResumeQueueRequest& request, v1::ResumeQueueResponse* response);
  grpc::Status Call(const v1::GetTaskRequest& request, v1::GetTaskResponse* response);

  FakeBroker broker;
  metrics::Metrics metrics{"test", "test"};
  std::unique_ptr<Server> server;
  std::shared_ptr<grpc::Channel> channel;
  std::unique_ptr<v1::BrokerService::Stub> stub;
  std::unique_ptr<v1::AdminService::Stub> admin;
};

// What a caller finds in the details of a status.
struct ErrorDetails {
  google::rpc::ErrorInfo info;
  google::rpc::BadRequest bad_request;
  google::rpc::RetryInfo retry;

  std::string Field() const;  // the only one that is blamed; empty if none
};

ErrorDetails Decode(const grpc::Status& status);

// A token as the broker knows it, and as callers of every Front without a sealer of its own do.
std::string GoodToken();
std::string SealedToken();
// What such a caller got, as the broker knows it; empty if it is none.
std::string Opened(absl::string_view token);

// An answer of `count` tasks, numbered from 1.
broker::LeaseAnswer SomeTasks(int count);

}  // namespace skiplane::rpc
