#include "server/base/timer.h"

#include <utility>

namespace skiplane::base {
namespace {

using Function = absl::AnyInvocable<void()>;

SteadyTime SaturatingAdd(SteadyTime now, std::chrono::nanoseconds delay) {
  return delay > SteadyTime::max() - now ? SteadyTime::max() : now + delay;
}

}  // namespace

Timer::Timer() : thread_([this] { Loop(); }) {}

Timer::~Timer() { Stop(); }

Timer::Id Timer::At(SteadyTime time, Function function) {
  MutexLock lock(mutex_);
  const Id id = ++last_id_;
  if (stopping_) {
    by_id_.emplace(id, entries_.end());
    return id;  // the argument is destroyed by the caller, after the lock is released
  }
  // insert() puts it behind those of the same time: they run in the order of insertion.
  const auto entry = entries_.emplace(time, Entry{id, std::move(function)});
  by_id_.emplace(id, entry);
  if (entry == entries_.begin()) changed_.NotifyOne();
  return id;
}

Timer::Id Timer::After(std::chrono::nanoseconds delay, Function function) {
  return At(SaturatingAdd(std::chrono::steady_clock::now(), delay), std::move(function));
}

bool Timer::Cancel(Id id) {
  // Destroyed after the lock is released: what the function holds may call this timer from its
  // destructor.
  Function cancelled;
  MutexLock lock(mutex_);
  const auto found = by_id_.find(id);
  if (found == by_id_.end()) return false;
  const auto entry = found->second;
  by_id_.erase(found);
  if (stopping_) return true;
  cancelled = std::move(entry->second.function);
  entries_.erase(entry);
  return true;
}

void Timer::Stop() {
  std::multimap<SteadyTime, Entry> dropped;  // destroyed after the locks are released
  MutexLock joining(join_mutex_);
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    dropped.swap(entries_);
    changed_.NotifyAll();
  }
  if (thread_.joinable()) thread_.join();
}

void Timer::Loop() {
  for (;;) {
    Function due;
    {
      MutexLock lock(mutex_);
      while (!stopping_ && (entries_.empty() ||
                            entries_.begin()->first > std::chrono::steady_clock::now())) {
        if (entries_.empty()) {
          changed_.Wait(mutex_);
        } else {
          changed_.WaitUntil(mutex_, entries_.begin()->first);
        }
      }
      if (stopping_) return;
      const auto first = entries_.begin();
      by_id_.erase(first->second.id);
      due = std::move(first->second.function);
      entries_.erase(first);
    }
    due();
  }
}

}  // namespace skiplane::base
