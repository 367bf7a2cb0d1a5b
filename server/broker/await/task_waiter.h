// A call that waits for the end of a task.
#pragma once

#include <string>

namespace skiplane::broker {

class TaskWaiter {
 public:
  virtual ~TaskWaiter() = default;

  // The task has perhaps ended, or (`is_over`) the waiter's time has: it reads the task. Called
  // without locks, more often than needed; must not block.
  virtual void Look(bool is_over) = 0;

  // Whose answer it is: a principal or, where nobody proves who it is, a connection.
  virtual const std::string& party() const = 0;
};

}  // namespace skiplane::broker
