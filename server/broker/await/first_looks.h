// Tasks that other brokers were told of, in order of time: each is looked at once when they have
// heard of it. A look before that would miss an end that comes in between. Not thread-safe.
#pragma once

#include <chrono>
#include <deque>
#include <optional>
#include <vector>

#include "server/base/timer.h"
#include "server/model/task.h"

namespace skiplane::broker {

class FirstLooks {
 public:
  explicit FirstLooks(std::chrono::nanoseconds after) : after_(after) {}

  // `told` is never before that of the task added last.
  void Add(const model::TaskId& task, base::SteadyTime told) {
    looks_.push_back({task, told + after_});
  }

  // Those whose time has come; it forgets them.
  std::vector<model::TaskId> TakeDue(base::SteadyTime now);

  // When the next one is due; nothing if there is none.
  std::optional<base::SteadyTime> Next() const;

 private:
  struct Look {
    model::TaskId task;
    base::SteadyTime time;
  };

  const std::chrono::nanoseconds after_;
  std::deque<Look> looks_;
};

}  // namespace skiplane::broker
