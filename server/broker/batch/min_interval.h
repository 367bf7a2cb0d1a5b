// The least interval between the starts of two batches. Guarded by its owner, which it calls back
// through the timer.
#pragma once

#include <chrono>

#include "absl/functional/any_invocable.h"
#include "server/base/timer.h"

namespace skiplane::broker {

class MinInterval {
 public:
  // `wake` runs on the timer's thread when a start that was put off may be tried again. Without an
  // interval, or with no timer, every start may be now.
  MinInterval(std::chrono::milliseconds interval, base::Timer* timer,
              absl::AnyInvocable<void()> wake)
      : interval_(interval), timer_(timer), wake_(std::move(wake)) {}

  // Whether to start now; counts as a start if so.
  bool Allows() {
    if (timer_ == nullptr || interval_ == std::chrono::milliseconds(0)) return true;
    const base::SteadyTime now = std::chrono::steady_clock::now();
    if (next_ <= now) {
      next_ = now + interval_;
      return true;
    }
    if (!is_awaited_) timer_->At(next_, [this] { wake_(); });
    is_awaited_ = true;
    return false;
  }

  // To be called first by what `wake` does.
  void Awoke() { is_awaited_ = false; }

  // From now on every start may be at once.
  void End() { timer_ = nullptr; }

 private:
  const std::chrono::milliseconds interval_;
  base::Timer* timer_;
  absl::AnyInvocable<void()> wake_;
  base::SteadyTime next_{};
  bool is_awaited_ = false;
};

}  // namespace skiplane::broker
