// One call of a Client, over all its attempts: starts it, repeats it on UNAVAILABLE where that is
// safe and on RESOURCE_EXHAUSTED, no earlier than the broker says, and with a token that came after
// the refused one; ends it at its deadline or when it is cancelled, and calls back exactly once.
//
// No thread waits for it: attempts end on gRPC's threads and pauses are gRPC alarms. It keeps
// itself alive until it called back.
#pragma once

#include <grpcpp/alarm.h>
#include <grpcpp/client_context.h>

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/src/connection.h"
#include "client/src/send.h"
#include "client/src/status.h"
#include "skiplane/calls.h"
#include "skiplane/error.h"

namespace skiplane::internal {

template <typename Request, typename Response>
struct UnaryPlan {
  // Sends one attempt.
  Send<Request, Response> send;
  Request request;
  absl::Duration timeout;
  bool repeatable = false;
  absl::AnyInvocable<void(absl::StatusOr<Response>)> done;
};

template <typename Request, typename Response>
class UnaryCall : public PendingCall::Target,
                  public std::enable_shared_from_this<UnaryCall<Request, Response>> {
 public:
  using Plan = UnaryPlan<Request, Response>;

  static PendingCall Start(std::shared_ptr<Connection> connection, Plan plan) {
    auto call = std::make_shared<UnaryCall>(std::move(connection), std::move(plan));
    call->Try();
    return PendingCall(call);
  }

  UnaryCall(std::shared_ptr<Connection> connection, Plan plan)
      : connection_(std::move(connection)),
        plan_(std::move(plan)),
        deadline_(absl::Now() + plan_.timeout) {}

  void Cancel() override {
    const std::lock_guard<std::mutex> lock(mutex_);
    cancelled_ = true;
    if (context_ != nullptr) context_->TryCancel();
    if (alarm_ != nullptr) alarm_->Cancel();
  }

 private:
  void Try() {
    std::unique_lock<std::mutex> lock(mutex_);
    if (cancelled_) {
      lock.unlock();
      return Finish(absl::CancelledError("cancelled by the caller"));
    }
    ++attempt_;
    alarm_.reset();
    response_.Clear();
    context_ = std::make_unique<grpc::ClientContext>();
    context_->set_deadline(absl::ToChronoTime(deadline_));
    const std::string& actor = connection_->options().actor;
    if (!actor.empty()) context_->AddMetadata("skiplane-actor", actor);
    token_ = connection_->token().Get();
    if (!token_.empty()) context_->AddMetadata("authorization", "Bearer " + token_);
    grpc::ClientContext* const context = context_.get();
    lock.unlock();
    plan_.send(connection_->Next(), context, &plan_.request, &response_,
               [self = this->shared_from_this()](grpc::Status status) { self->Ended(status); });
  }

  void Ended(const grpc::Status& status) {
    if (status.ok()) return Finish(std::move(response_));
    absl::Status refusal = FromGrpc(status);
    if (MayShowNewToken(refusal)) return Try();
    const std::optional<absl::Duration> hint = RetryDelay(refusal);
    const absl::Duration pause = connection_->PauseAfter(attempt_, hint);
    // RESOURCE_EXHAUSTED changes nothing, whatever the call is.
    const bool may_repeat =
        MayPass(refusal) && (plan_.repeatable || absl::IsResourceExhausted(refusal));
    const bool again = may_repeat && attempt_ < connection_->options().max_attempts &&
                       absl::Now() + pause < deadline_;
    if (!again || !PauseThenTry(pause)) Finish(std::move(refusal));
  }

  // Nothing was done for a caller whose token was refused.
  bool MayShowNewToken(const absl::Status& refusal) {
    return absl::IsUnauthenticated(refusal) && attempt_ < connection_->options().max_attempts &&
           connection_->token().IsOther(token_);
  }

  // False: cancelled meanwhile.
  bool PauseThenTry(absl::Duration pause) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (cancelled_) return false;
    alarm_ = std::make_unique<grpc::Alarm>();
    alarm_->Set(absl::ToChronoTime(absl::Now() + pause),
                [self = this->shared_from_this()](bool) { self->Try(); });
    return true;
  }

  void Finish(absl::StatusOr<Response> result) {
    {
      // The alarm holds its function, which holds this call.
      const std::lock_guard<std::mutex> lock(mutex_);
      alarm_.reset();
    }
    auto done = std::move(plan_.done);
    done(std::move(result));
  }

  const std::shared_ptr<Connection> connection_;
  Plan plan_;
  const absl::Time deadline_;
  int attempt_ = 0;  // one attempt runs at a time
  std::string token_;  // of this attempt
  Response response_;

  std::mutex mutex_;
  bool cancelled_ = false;
  std::unique_ptr<grpc::ClientContext> context_;
  std::unique_ptr<grpc::Alarm> alarm_;
};

}  // namespace skiplane::internal
