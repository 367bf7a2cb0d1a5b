// What a command works with: the connection to the broker and where its words go.
#pragma once

#include <iostream>
#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "client/cli/base/global_options.h"
#include "client/src/await_task.h"
#include "client/src/call.h"
#include "client/src/connection.h"
#include "skiplane/client.h"

namespace skiplane::cli {

class Session {
 public:
  // The network is touched by the first call.
  static absl::StatusOr<Session> Open(const GlobalOptions& options);

  // See internal::Call.
  template <typename Request, typename Response, typename Methods>
  absl::StatusOr<Response> Call(Request request,
                                internal::AsyncMethod<Methods, Request, Response> method) {
    return internal::Call<Request, Response, Methods>(connection_, std::move(request), method);
  }

  // A queue as it is now, with its counts.
  absl::StatusOr<v1::Queue> GetQueue(const std::string& name);

  // See internal::AwaitTask.
  absl::StatusOr<v1::GetTaskResponse> AwaitTask(v1::GetTaskRequest request, absl::Duration wait) {
    return internal::AwaitTask(connection_, std::move(request), wait);
  }

  // To the broker that the next call would go to.
  std::shared_ptr<grpc::Channel> NextChannel() { return connection_->Next().channel; }

  const Client& client() const { return client_; }
  const GlobalOptions& options() const { return options_; }
  // For programs: one JSON document per line and nothing else on standard output.
  bool json() const { return options_.json; }
  std::ostream& out() const { return std::cout; }

 private:
  Session(GlobalOptions options, Client client);

  GlobalOptions options_;
  Client client_;
  std::shared_ptr<internal::Connection> connection_;
};

}  // namespace skiplane::cli
