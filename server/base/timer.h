// One thread that calls functions at their time: parked leases' deadlines, safety polls, chores.
//
// A function runs on the timer's thread and must not block. Cancel() makes sure that it will not
// start, but does not wait for one that runs. Cheap enough for tens of thousands of entries:
// logarithmic to add and to cancel. Thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <thread>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/any_invocable.h"
#include "server/base/mutex.h"

namespace skiplane::base {

using SteadyTime = std::chrono::steady_clock::time_point;

class Timer {
 public:
  using Id = uint64_t;  // 0 is never used

  Timer();
  // Stops; entries that have not run are dropped.
  ~Timer();

  Id At(SteadyTime time, absl::AnyInvocable<void()> function);
  Id After(std::chrono::nanoseconds delay, absl::AnyInvocable<void()> function);

  // Returns true if the function had not started and never will.
  bool Cancel(Id id);

  // No function starts after this returns. Idempotent. Not from the timer's own thread.
  void Stop();

 private:
  struct Entry {
    Id id;
    absl::AnyInvocable<void()> function;
  };

  void Loop();

  Mutex mutex_;
  CondVar changed_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  Id last_id_ ABSL_GUARDED_BY(mutex_) = 0;
  std::multimap<SteadyTime, Entry> entries_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<Id, std::multimap<SteadyTime, Entry>::iterator> by_id_
      ABSL_GUARDED_BY(mutex_);
  Mutex join_mutex_;    // lets two callers of Stop() both wait for the thread
  std::thread thread_;  // last: it uses the other members
};

}  // namespace skiplane::base
