#include "client/src/worker/holdings.h"

#include <algorithm>
#include <utility>

namespace skiplane::internal {
namespace {

// Results that may wait for the broker's answer while further tasks come.
constexpr int kSettlingMax = 1000;

}  // namespace

void Holdings::SetQuiet(bool is_quiet) {
  const std::lock_guard<std::mutex> lock(mutex_);
  is_quiet_ = is_quiet;
  changed_.notify_all();
}

bool Holdings::IsQuiet() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return is_quiet_;
}

int Holdings::WaitForRoom() {
  std::unique_lock<std::mutex> lock(mutex_);
  const auto room = [this] {
    return is_quiet_ ? 0 : capacity_ - static_cast<int>(all_.size()) - lingering_;
  };
  changed_.wait(lock, [&] { return is_closed_ || room() > 0; });
  return is_closed_ ? 0 : room();
}

int Holdings::Vacant() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (is_closed_ || is_quiet_) return 0;
  const int unsettled = static_cast<int>(all_.size());
  const int begun = static_cast<int>(waiting_.size()) + running_;
  return std::min(capacity_ - begun, capacity_ + kSettlingMax - unsettled);
}

void Holdings::Add(std::vector<LeasedTask> tasks) {
  const std::lock_guard<std::mutex> lock(mutex_);
  taken_ += static_cast<int64_t>(tasks.size());
  for (LeasedTask& task : tasks) {
    auto hold = std::make_shared<Hold>(std::move(task));
    hold->place = {.index = all_.size(), .is_held = true, .is_waiting = true};
    all_.push_back(hold);
    waiting_.push_back(std::move(hold));
    ready_.notify_one();
  }
}

HoldPtr Holdings::Take() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    ready_.wait(lock, [this] { return is_closed_ || !waiting_.empty(); });
    if (is_closed_) return nullptr;
    HoldPtr hold = std::move(waiting_.front());
    waiting_.pop_front();
    hold->place.is_waiting = false;
    if (!hold->Begin()) continue;  // lost while it waited
    hold->place.is_running = true;
    ++running_;
    return hold;
  }
}

void Holdings::Ran(const HoldPtr& hold) {
  const std::lock_guard<std::mutex> lock(mutex_);
  hold->place.is_running = false;
  --running_;
  if (!hold->place.is_held) {
    --lingering_;
    ++freed_;
  }
  changed_.notify_all();
}

void Holdings::Remove(const HoldPtr& hold) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Hold::Place& place = hold->place;
  if (!std::exchange(place.is_held, false)) return;
  if (std::exchange(place.is_waiting, false)) std::erase(waiting_, hold);
  if (place.is_running) {
    ++lingering_;
  } else {
    ++freed_;
  }
  all_.back()->place.index = place.index;
  std::swap(all_[place.index], all_.back());
  all_.pop_back();  // the caller has it, too
  changed_.notify_all();
}

std::vector<HoldPtr> Holdings::All() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return all_;
}

std::vector<HoldPtr> Holdings::TakeWaiting() {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<HoldPtr> waiting(waiting_.begin(), waiting_.end());
  waiting_.clear();
  for (const HoldPtr& hold : waiting) hold->place.is_waiting = false;
  return waiting;
}

void Holdings::Close() {
  const std::lock_guard<std::mutex> lock(mutex_);
  is_closed_ = true;
  ready_.notify_all();
  changed_.notify_all();
}

bool Holdings::WaitUntilNoneRuns(absl::Duration at_most) {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait_for(lock, absl::ToChronoNanoseconds(at_most),
                    [this] { return running_ == 0 || is_grace_over_; });
  return running_ == 0;
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

bool Holdings::WaitUntilEmpty(int64_t tasks) {
  std::unique_lock<std::mutex> lock(mutex_);
  const auto is_done = [&] { return taken_ >= tasks && HasNone(); };
  changed_.wait(lock, [&] { return is_closed_ || is_done(); });
  return is_done();
}

int64_t Holdings::taken() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return taken_;
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
