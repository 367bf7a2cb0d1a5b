#include "client/src/worker/hold.h"

namespace skiplane::internal {

void Hold::Report(TaskProgress progress) {
  const std::lock_guard<std::mutex> lock(mutex_);
  progress_ = std::move(progress);
}

bool Hold::Move(State from, State to) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (state_ != from) return false;
  state_ = to;
  return true;
}

bool Hold::Lose() {
  if (!Move(State::kWaiting, State::kLost) && !Move(State::kRunning, State::kLost)) return false;
  RequestStop();
  return true;
}

bool Hold::Withdraw() {
  {
    // Before the handler is asked: what it says from then on is not the task's fault.
    const std::lock_guard<std::mutex> lock(mutex_);
    is_withdrawn_ = true;
  }
  RequestStop();
  return Move(State::kWaiting, State::kSettling);
}

bool Hold::is_withdrawn() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return is_withdrawn_;
}

HeldLease Hold::Heartbeat() {
  const std::lock_guard<std::mutex> lock(mutex_);
  HeldLease lease{.lease_token = task_.lease_token, .progress = std::move(progress_)};
  progress_.reset();
  return lease;
}

}  // namespace skiplane::internal
