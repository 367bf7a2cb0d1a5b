// All leased tasks of one worker, and what its threads wait for: room for more, a task to run,
// nothing left that runs. Thread-safe.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "absl/time/time.h"
#include "client/src/worker/hold.h"

namespace skiplane::internal {

using HoldPtr = std::shared_ptr<Hold>;

class Holdings {
 public:
  explicit Holdings(int capacity) : capacity_(capacity) {}

  // While it is quiet there is no room. What is held stays.
  void SetQuiet(bool is_quiet);
  bool IsQuiet() const;

  // Returns how many tasks fit, at least 1, or 0 once it is closed. What has ended takes its place
  // until it is settled.
  int WaitForRoom();

  // Returns how many tasks fit, if an attempt gives its place back when its handler returns.
  int Vacant() const;

  void Add(std::vector<LeasedTask> tasks);

  // Returns a task whose run has begun, or null once it is closed. The caller calls Ran() when the
  // run has ended.
  HoldPtr Take();
  void Ran(const HoldPtr& hold);

  // The task is settled or lost: its place is free, as soon as no handler runs for it any more.
  void Remove(const HoldPtr& hold);

  std::vector<HoldPtr> All() const;

  // Returns the tasks that no handler has begun and forgets that they wait.
  std::vector<HoldPtr> TakeWaiting();

  // Whether nothing is held and no handler runs.
  bool IsEmpty() const;

  // Returns when that is so, after at least `tasks` were taken: true; false once it is closed.
  bool WaitUntilEmpty(int64_t tasks);

  // How many tasks were ever added.
  int64_t taken() const;

  // How many places were given back so far.
  uint64_t freed() const;

  // Returns when more than `freed` were, when it is closed, or after `at_most`.
  void WaitForMore(uint64_t freed, absl::Duration at_most);

  // No further Take or WaitForRoom succeeds.
  void Close();

  // Returns whether no handler runs any more; after EndGrace() without waiting.
  bool WaitUntilNoneRuns(absl::Duration at_most);
  void EndGrace();

 private:
  // With mutex_ held.
  bool HasNone() const { return all_.empty() && running_ == 0; }

  const int capacity_;
  mutable std::mutex mutex_;
  std::condition_variable ready_;    // what the handlers' threads wait for, one for each task
  std::condition_variable changed_;  // what all others wait for
  bool is_closed_ = false;
  bool is_grace_over_ = false;
  bool is_quiet_ = false;
  uint64_t freed_ = 0;
  int64_t taken_ = 0;
  std::vector<HoldPtr> all_;  // each knows its index
  std::deque<HoldPtr> waiting_;
  int running_ = 0;
  int lingering_ = 0;  // that run, but are not held any more
};

}  // namespace skiplane::internal
