// A call that does not block: its callback, and the handle that cancels it.
#pragma once

#include <memory>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"

namespace skiplane {

// Called exactly once, on a thread of gRPC: it must not block, nor make a synchronous call.
template <typename Answer>
using Done = absl::AnyInvocable<void(absl::StatusOr<Answer>)>;

// A call that was begun. Dropping the handle does not cancel the call. Thread-safe.
class PendingCall {
 public:
  class Target {
   public:
    virtual ~Target() = default;
    virtual void Cancel() = 0;
  };

  PendingCall() = default;
  explicit PendingCall(std::weak_ptr<Target> target) : target_(std::move(target)) {}

  // Ends the call soon, as CANCELLED unless it ended already; its callback runs in any case.
  void Cancel() {
    if (const std::shared_ptr<Target> target = target_.lock()) target->Cancel();
  }

 private:
  std::weak_ptr<Target> target_;
};

}  // namespace skiplane
