// Numbers for new tasks, taken from the database in blocks. Thread-safe.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "server/base/mutex.h"
#include "server/pg/session.h"

namespace skiplane::broker {

class TaskNumbers {
 public:
  // The first of `count` contiguous numbers that nobody else has. At most a block's size.
  absl::StatusOr<int64_t> Take(pg::Session& session, int64_t count);

 private:
  base::Mutex mutex_;
  int64_t next_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t end_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace skiplane::broker
