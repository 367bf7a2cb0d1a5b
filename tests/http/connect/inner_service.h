// A server inside the process that answers whatever is called with one message, and may keep the
// call open; it tells when the call has ended.
#pragma once

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>

#include "server/base/mutex.h"
#include "server/http/connect/call.h"
#include "skiplane/v1/admin.pb.h"
#include "tests/http/connect/recorded_exchange.h"
#include "tests/support/require.h"

namespace skiplane::http::connect {

class InnerService final : public grpc::CallbackGenericService {
 public:
  // `message`: of each answer.
  InnerService(std::string message, bool keeps_open)
      : message_(std::move(message)), keeps_open_(keeps_open) {
    grpc::ServerBuilder builder;
    builder.RegisterCallbackGenericService(this);
    server_ = builder.BuildAndStart();
    channel_ = std::make_shared<rpc::InnerChannel>(server_->InProcessChannel({}));
  }
  // Waits for the callers: a call that is over still has to let go of what it used.
  ~InnerService() override {
    AwaitRelease();
    server_->Shutdown(std::chrono::system_clock::now());
  }

  const std::shared_ptr<rpc::InnerChannel>& channel() const { return channel_; }

  // Whether the caller cancelled it.
  bool AwaitEnd() {
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    base::MutexLock lock(mutex_);
    while (!has_ended_) testing::Require(changed_.WaitUntil(mutex_, end), "the call does not end");
    return is_cancelled_;
  }

  // To GetQueue, in JSON.
  Call CallOf(const std::shared_ptr<Exchange>& exchange, std::string body) {
    Call call;
    call.method =
        skiplane::v1::GetQueueRequest::descriptor()->file()->service(0)->FindMethodByName(
            "GetQueue");
    call.request.head = {"POST", "/", {}};
    call.request.body = std::move(body);
    call.request.caller = {"ipv4:127.0.0.1:1", ""};
    call.exchange = Held(exchange);
    return call;
  }

  // The same exchange; whoever lets go of it last is waited for.
  std::shared_ptr<Exchange> Held(const std::shared_ptr<Exchange>& exchange) {
    AddHeld(1);
    return {exchange.get(), [this, exchange](Exchange*) { AddHeld(-1); }};
  }

 private:
  class Reactor final : public grpc::ServerGenericBidiReactor {
   public:
    explicit Reactor(InnerService& service) : service_(service) {
      const grpc::Slice slice(service.message_);
      answer_ = grpc::ByteBuffer(&slice, 1);
      StartWrite(&answer_);
    }
    void OnWriteDone(bool /*is_good*/) override {
      if (!service_.keeps_open_) Finish(grpc::Status::OK);
    }
    void OnCancel() override {
      is_cancelled_ = true;
      if (service_.keeps_open_) Finish(grpc::Status::CANCELLED);
    }
    void OnDone() override {
      service_.NoteEnd(is_cancelled_);
      delete this;
    }

   private:
    InnerService& service_;
    grpc::ByteBuffer answer_;
    std::atomic<bool> is_cancelled_ = false;
  };

  grpc::ServerGenericBidiReactor* CreateReactor(
      grpc::GenericCallbackServerContext* /*context*/) override {
    return new Reactor(*this);
  }

  void NoteEnd(bool is_cancelled) {
    base::MutexLock lock(mutex_);
    has_ended_ = true;
    is_cancelled_ = is_cancelled;
    changed_.NotifyAll();
  }

  // Counts the exchanges that calls hold.
  void AddHeld(int count) {
    base::MutexLock lock(mutex_);
    held_ += count;
    changed_.NotifyAll();
  }

  void AwaitRelease() {
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    base::MutexLock lock(mutex_);
    while (held_ > 0) testing::Require(changed_.WaitUntil(mutex_, end), "a call does not let go");
  }

  const std::string message_;
  const bool keeps_open_;
  base::Mutex mutex_;
  base::CondVar changed_;
  bool has_ended_ = false;
  int held_ = 0;
  bool is_cancelled_ = false;
  std::unique_ptr<grpc::Server> server_;
  std::shared_ptr<rpc::InnerChannel> channel_;
};

}  // namespace skiplane::http::connect
