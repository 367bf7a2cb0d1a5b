#include "server/broker/await/blocked_looks.h"

#include <chrono>
#include <utility>
#include <vector>

namespace skiplane::broker {
namespace {

constexpr size_t kLooksAtOnce = 8;
constexpr std::chrono::milliseconds kBetweenLooks(10);

}  // namespace

void BlockedLooks::Add(std::shared_ptr<TaskWaiter> waiter) {
  {
    base::MutexLock lock(mutex_);
    if (queued_.insert(waiter.get()).second) waiters_.push_back(waiter);
  }
  if (!is_full_(waiter->party())) OnRoom();  // made before the waiter came here
}

void BlockedLooks::OnRoom() {
  base::MutexLock lock(mutex_);
  if (is_armed_ || waiters_.empty()) return;
  is_armed_ = true;
  timer_.After(kBetweenLooks, [this] { Look(); });
}

void BlockedLooks::Look() {
  std::vector<std::shared_ptr<TaskWaiter>> some;
  {
    base::MutexLock lock(mutex_);
    is_armed_ = false;
    std::deque<std::shared_ptr<TaskWaiter>> others;
    for (std::shared_ptr<TaskWaiter>& waiter : waiters_) {
      if (some.size() == kLooksAtOnce || is_full_(waiter->party())) {
        others.push_back(std::move(waiter));
        continue;
      }
      queued_.erase(waiter.get());
      some.push_back(std::move(waiter));
    }
    waiters_ = std::move(others);
  }
  for (const std::shared_ptr<TaskWaiter>& waiter : some) waiter->Look(false);
  if (!some.empty()) OnRoom();
}

}  // namespace skiplane::broker
