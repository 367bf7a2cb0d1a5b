// How many calls are being answered, so that a drain can end with the last of them. Thread-safe.
#pragma once

#include <chrono>
#include <cstdint>

#include "server/base/mutex.h"

namespace skiplane::rpc {

class InFlight {
 public:
  void Begin();
  void End();

  // Returns false if calls were left at `deadline`.
  bool WaitForNone(std::chrono::steady_clock::time_point deadline);

 private:
  base::Mutex mutex_;
  base::CondVar none_;
  int64_t calls_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace skiplane::rpc
