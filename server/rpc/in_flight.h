// How many calls are being answered, so that a drain can end with the last of them: from Close() on
// no further one is taken. And how many bytes they hold, because requests of all queues and methods
// share the broker's memory. Thread-safe.
#pragma once

#include <chrono>
#include <cstdint>

#include "server/base/mutex.h"
#include "server/model/limits.h"

namespace skiplane::rpc {

class InFlight {
 public:
  struct Limits {
    int64_t calls = model::kCallsInFlightMax;
    int64_t bytes = model::kBytesInFlightMax;
  };

  InFlight() : InFlight(Limits()) {}
  explicit InFlight(Limits limits) : limits_(limits) {}

  // False after Close(): the call is not counted, and End() must not follow.
  bool Begin();
  // `held`: what the call was granted by Hold() and Add().
  void End(int64_t held);

  // Grants the bytes of a request, unless too many calls or bytes are under way.
  bool Hold(int64_t bytes);
  // Counts those of an answer, which is there already: the next requests feel it.
  void Add(int64_t bytes);

  void Close();

  // Returns false if calls were left at `deadline`.
  bool WaitForNone(std::chrono::steady_clock::time_point deadline);

 private:
  const Limits limits_;
  base::Mutex mutex_;
  base::CondVar none_;
  bool is_closed_ ABSL_GUARDED_BY(mutex_) = false;
  int64_t calls_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace skiplane::rpc
