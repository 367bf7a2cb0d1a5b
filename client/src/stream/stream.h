// One bidirectional stream to a broker, from its first message to its last: what all of them share.
// What there is to say is asked for as soon as the message before is on its way, so that more
// gathers while the transport is slow. It keeps itself and its owner until gRPC is done with it.
#pragma once

#include <grpcpp/client_context.h>
#include <grpcpp/support/client_callback.h>

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "client/src/connection.h"
#include "client/src/status.h"

namespace skiplane::internal {

template <typename Request, typename Response>
class Stream final : public grpc::ClientBidiReactor<Request, Response> {
 public:
  class Owner {
   public:
    virtual ~Owner() = default;
    // Makes the next message. False: there is nothing to say. With the owner's mutex held.
    virtual bool Fill(Stream* stream, Request* request) = 0;
    // What Fill() made has been handed over, or never will be. With the owner's mutex held.
    virtual void Sent(Stream*, Request*) {}
    virtual void Came(Stream* stream, Response* response) = 0;
    // Once, after all else.
    virtual void Ended(Stream* stream, const absl::Status& status) = 0;
  };
  using Start = std::function<void(Backend&, grpc::ClientContext*, Stream*)>;

  // `mutex` is the owner's, and guards what the stream knows of itself, too.
  Stream(std::shared_ptr<Owner> owner, std::mutex& mutex)
      : owner_(std::move(owner)), mutex_(mutex) {}

  // Once; without the mutex, as all that follow.
  void Begin(Connection& connection, const std::shared_ptr<Stream>& self, const Start& start) {
    self_ = self;
    token_ = connection.token().Get();
    const std::string& actor = connection.options().actor;
    if (!actor.empty()) context_.AddMetadata("skiplane-actor", actor);
    if (!token_.empty()) context_.AddMetadata("authorization", "Bearer " + token_);
    start(connection.Next(), &context_, this);
    this->AddHold();
    this->StartCall();
    this->StartRead(&response_);
    Advance([this] { is_begun_ = true; });
  }

  // There may be something to say.
  void Push() { Advance([] {}); }

  // Says that nothing follows what is there to say now. The broker then ends the stream.
  void Close() { Advance([this] { is_closing_ = true; }); }

  void Cancel() { context_.TryCancel(); }

  // What it proved with who calls.
  const std::string& token() const { return token_; }
  // What the owner keeps of the message on its way, in order. Guarded by its mutex.
  std::vector<std::shared_ptr<void>> writing;

 private:
  enum class Step { kNone, kWrite, kWritesDone, kLetGo };

  template <typename Change>
  void Advance(Change change) {
    Step step = Step::kNone;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      change();
      step = Next();
    }
    if (step == Step::kWrite) this->StartWrite(&request_);
    if (step == Step::kWritesDone) this->StartWritesDone();
    if (step == Step::kLetGo) this->RemoveHold();
  }

  // What a thread does outside the mutex must find the stream there: so the hold stays until
  // nothing is written any more.
  Step Next() {
    if (!is_begun_ || is_writing_ || is_let_go_) return Step::kNone;
    if (is_over_) {
      if (!has_read_all_) return Step::kNone;
      is_let_go_ = true;
      return Step::kLetGo;
    }
    if (is_closed_) return Step::kNone;
    is_writing_ = true;
    if (owner_->Fill(this, &request_)) return Step::kWrite;
    if (is_closing_) {
      is_closed_ = true;
      return Step::kWritesDone;
    }
    is_writing_ = false;
    return Step::kNone;
  }

  void OnWriteDone(bool ok) override {
    Advance([&] {
      owner_->Sent(this, &request_);
      request_.Clear();
      is_writing_ = false;
      if (!ok) is_over_ = true;
    });
  }

  void OnWritesDoneDone(bool) override { Advance([this] { is_writing_ = false; }); }

  void OnReadDone(bool ok) override {
    if (ok) {
      owner_->Came(this, &response_);
      this->StartRead(&response_);
      return;
    }
    Advance([this] {
      is_over_ = true;
      has_read_all_ = true;
    });
  }

  void OnDone(const grpc::Status& status) override {
    const std::shared_ptr<Stream> self = std::move(self_);
    owner_->Ended(this, FromGrpc(status));
  }

  const std::shared_ptr<Owner> owner_;
  std::mutex& mutex_;
  grpc::ClientContext context_;
  std::string token_;
  Request request_;
  Response response_;
  std::shared_ptr<Stream> self_;

  bool is_begun_ = false;
  bool is_writing_ = false;
  bool is_closing_ = false;  // and once that was said:
  bool is_closed_ = false;
  bool is_over_ = false;
  bool has_read_all_ = false;
  bool is_let_go_ = false;
};

}  // namespace skiplane::internal
