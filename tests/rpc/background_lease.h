// A Lease that waits in a thread of its own while the test goes on.
#pragma once

#include <chrono>
#include <future>

#include "tests/rpc/front.h"

namespace skiplane::rpc {

inline v1::LeaseRequest WaitingLease(int64_t seconds = 60) {
  v1::LeaseRequest request;
  request.add_queues()->set_name("mail");
  request.set_max_tasks(10);
  request.mutable_wait()->set_seconds(seconds);
  return request;
}

class BackgroundLease {
 public:
  BackgroundLease(Front& front, const v1::LeaseRequest& request,
                  std::chrono::milliseconds deadline = std::chrono::minutes(2)) {
    context_.set_deadline(std::chrono::system_clock::now() + deadline);
    status_ = std::async(std::launch::async, [this, &front, request] {
      return front.stub->Lease(&context_, request, &response);
    });
  }

  void Cancel() { context_.TryCancel(); }
  grpc::Status Wait() { return status_.get(); }

  v1::LeaseResponse response;  // valid after Wait()

 private:
  grpc::ClientContext context_;
  std::future<grpc::Status> status_;
};

}  // namespace skiplane::rpc
