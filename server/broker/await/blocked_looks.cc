#include "server/broker/await/blocked_looks.h"

#include <chrono>
#include <iterator>
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

// Asks outside the lock, as whoever makes room calls OnRoom() under its own.
void BlockedLooks::Look() {
  std::deque<std::shared_ptr<TaskWaiter>> waiters;
  {
    base::MutexLock lock(mutex_);
    is_armed_ = false;
    waiters.swap(waiters_);
  }
  std::vector<std::shared_ptr<TaskWaiter>> some;
  std::deque<std::shared_ptr<TaskWaiter>> others;
  for (std::shared_ptr<TaskWaiter>& waiter : waiters) {
    const bool must_wait = some.size() == kLooksAtOnce || is_full_(waiter->party());
    if (must_wait) {
      others.push_back(std::move(waiter));
    } else {
      some.push_back(std::move(waiter));
    }
  }
  {
    base::MutexLock lock(mutex_);
    for (const std::shared_ptr<TaskWaiter>& waiter : some) queued_.erase(waiter.get());
    waiters_.insert(waiters_.begin(), std::make_move_iterator(others.begin()),
                    std::make_move_iterator(others.end()));
  }
  for (const std::shared_ptr<TaskWaiter>& waiter : some) waiter->Look(false);
  if (!some.empty()) OnRoom();
}

}  // namespace skiplane::broker
