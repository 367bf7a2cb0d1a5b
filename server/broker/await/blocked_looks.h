// Waiters that could not look at their tasks, as answers that their readers have not taken yet fill
// the memory for such answers, or the part of their party. Once there is room they look again, a
// few at a time, so that each finds room. Thread-safe.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "server/base/mutex.h"
#include "server/base/timer.h"
#include "server/broker/await/task_waiter.h"

namespace skiplane::broker {

class BlockedLooks {
 public:
  // Whether there is no room for answers to this party.
  using IsFullFor = std::function<bool(const std::string& party)>;

  BlockedLooks(base::Timer& timer, IsFullFor is_full)
      : timer_(timer), is_full_(std::move(is_full)) {}

  void Add(std::shared_ptr<TaskWaiter> waiter);

  // There is room again: the next ones look. Does not block.
  void OnRoom();

 private:
  void Look();

  base::Timer& timer_;
  const IsFullFor is_full_;
  base::Mutex mutex_;
  std::deque<std::shared_ptr<TaskWaiter>> waiters_ ABSL_GUARDED_BY(mutex_);  // each once
  absl::flat_hash_set<const TaskWaiter*> queued_ ABSL_GUARDED_BY(mutex_);
  bool is_armed_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace skiplane::broker
