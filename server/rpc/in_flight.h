// How many calls are being answered, so that a drain can end with the last of them: from Close() on
// no further one is taken. Thread-safe.
#pragma once

#include <chrono>
#include <cstdint>

#include "server/base/mutex.h"

namespace skiplane::rpc {

class InFlight {
 public:
  // False after Close(): the call is not counted, and End() must not follow.
  bool Begin();
  void End();

  void Close();

  // Returns false if calls were left at `deadline`.
  bool WaitForNone(std::chrono::steady_clock::time_point deadline);

 private:
  base::Mutex mutex_;
  base::CondVar none_;
  bool is_closed_ ABSL_GUARDED_BY(mutex_) = false;
  int64_t calls_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace skiplane::rpc
