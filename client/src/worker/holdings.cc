#include "client/src/worker/holdings.h"

#include <utility>

namespace skiplane::internal {

int Holdings::WaitForRoom() {
  std::unique_lock<std::mutex> lock(mutex_);
  const auto room = [this] { return capacity_ - static_cast<int>(all_.size()) - lingering_; };
  changed_.wait(lock, [&] { return is_closed_ || room() > 0; });
  return is_closed_ ? 0 : room();
}

void Holdings::Add(std::vector<LeasedTask> tasks) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (LeasedTask& task : tasks) {
    auto hold = std::make_shared<Hold>(std::move(task));
    all_.insert(hold);
    waiting_.push_back(std::move(hold));
  }
  changed_.notify_all();
}

HoldPtr Holdings::Take() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return is_closed_ || !waiting_.empty(); });
    if (is_closed_) return nullptr;
    HoldPtr hold = std::move(waiting_.front());
    waiting_.pop_front();
    if (!hold->Begin()) continue;  // lost while it waited
    running_.insert(hold);
    return hold;
  }
}

void Holdings::Ran(const HoldPtr& hold) {
  const std::lock_guard<std::mutex> lock(mutex_);
  running_.erase(hold);
  if (!all_.contains(hold)) {
    --lingering_;
    ++freed_;
  }
  changed_.notify_all();
}

void Holdings::Remove(const HoldPtr& hold) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (all_.erase(hold) > 0) {
    if (running_.contains(hold)) {
      ++lingering_;
    } else {
      ++freed_;
    }
  }
  changed_.notify_all();
}

std::vector<HoldPtr> Holdings::All() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return {all_.begin(), all_.end()};
}

std::vector<HoldPtr> Holdings::TakeWaiting() {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<HoldPtr> waiting(waiting_.begin(), waiting_.end());
  waiting_.clear();
  return waiting;
}

void Holdings::Close() {
  const std::lock_guard<std::mutex> lock(mutex_);
  is_closed_ = true;
  changed_.notify_all();
}

bool Holdings::WaitUntilNoneRuns(absl::Duration at_most) {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait_for(lock, absl::ToChronoNanoseconds(at_most),
                    [this] { return running_.empty() || is_grace_over_; });
  return running_.empty();
}

void Holdings::EndGrace() {
  const std::lock_guard<std::mutex> lock(mutex_);
  is_grace_over_ = true;
  changed_.notify_all();
}

bool Holdings::IsEmpty() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return HasNone();
}

bool Holdings::WaitUntilEmpty() {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [this] { return is_closed_ || HasNone(); });
  return !is_closed_;
}

uint64_t Holdings::freed() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return freed_;
}

void Holdings::WaitForMore(uint64_t freed, absl::Duration at_most) {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait_for(lock, absl::ToChronoNanoseconds(at_most),
                    [&] { return is_closed_ || freed_ > freed; });
}

}  // namespace skiplane::internal
