#include "server/broker/enqueue/task_numbers.h"

#include "server/base/status_macros.h"
#include "server/store/enqueue.h"

namespace skiplane::broker {

absl::StatusOr<int64_t> TaskNumbers::Take(pg::Session& session, int64_t count) {
  {
    base::MutexLock lock(mutex_);
    if (end_ - next_ >= count) {
      next_ += count;
      return next_ - count;
    }
  }
  // Two threads may both ask here: the numbers of the block that loses are never used.
  ASSIGN_OR_RETURN(const int64_t block, store::NextTaskIds(session));
  base::MutexLock lock(mutex_);
  next_ = block + count;
  end_ = block + store::kTaskIdBlock;
  return block;
}

}  // namespace skiplane::broker
