// A worker thread's line to the broker: waits for calls and pauses, and can be cut from outside so
// that Stop() never has to wait for a deadline.
//
// One thread at a time runs calls on it; Cut() comes from any thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/src/await.h"
#include "skiplane/calls.h"

namespace skiplane::internal {

class Line {
 public:
  // `start` begins a call with the callback that it is given and returns its handle. Returns the
  // answer; CANCELLED once the line is cut.
  template <typename Answer, typename Start>
  absl::StatusOr<Answer> Run(Start start) {
    return Await<Answer>([&](Done<Answer> done) { Keep(start(std::move(done))); });
  }

  // Returns after `duration`, or earlier if the line is cut.
  void Pause(absl::Duration duration) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait_for(lock, absl::ToChronoNanoseconds(duration), [this] { return is_cut_; });
  }

  // Cancels the call that runs, and from now on each one as soon as it begins.
  void Cut() {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_cut_ = true;
    call_.Cancel();
    changed_.notify_all();
  }

  bool is_cut() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return is_cut_;
  }

 private:
  void Keep(PendingCall call) {
    const std::lock_guard<std::mutex> lock(mutex_);
    call_ = std::move(call);
    if (is_cut_) call_.Cancel();
  }

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool is_cut_ = false;
  PendingCall call_;
};

}  // namespace skiplane::internal
