// Repeats what PostgreSQL broke off because of another transaction: nothing was changed, and the
// next try most likely meets nobody.
#pragma once

#include <chrono>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace skiplane::pg {

// Whether `status` is a conflict of that kind (TRANSACTION_CONFLICT), and not a lock that somebody
// kept for longer than lock_timeout: who waits for that again is in the way of others.
bool IsConflict(const absl::Status& status);

// How often and for how long one piece of work is repeated: 10 times, within 5 s. Not thread-safe.
class ConflictBudget {
 public:
  // Whether to try again after `status`. If so, has waited a little: at random, so that those who
  // met do not meet again, and longer each time, up to 64 ms.
  bool Spend(const absl::Status& status);

 private:
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  int spent_ = 0;
};

inline const absl::Status& StatusOf(const absl::Status& status) { return status; }
template <typename T>
const absl::Status& StatusOf(const absl::StatusOr<T>& answer) {
  return answer.status();
}

// What `work` returns when it meets no conflict, or after its last try. It is called within no
// transaction, and begins its own anew each time.
template <typename Work>
auto RepeatConflicts(Work work) -> decltype(work()) {
  ConflictBudget budget;
  auto answer = work();
  while (budget.Spend(StatusOf(answer))) answer = work();
  return answer;
}

}  // namespace skiplane::pg
