// Whose turn it is to make a list. Lists take long: only some connections of the pool make them at
// a time, so that whoever asks for many of them holds up other lists, and no other call. That also
// holds for lists whose callers have left.
//
// Thread-safe. Outlives the jobs of the pool.
#pragma once

#include <deque>

#include "absl/status/status.h"
#include "server/base/mutex.h"
#include "server/pg/connections/pool.h"

namespace skiplane::broker {

class ListTurns {
 public:
  // Half of the pool's `connections`, and at least one.
  ListTurns(pg::Pool& pool, int connections)
      : pool_(pool), at_once_(connections > 3 ? connections / 2 : 1) {}

  // As Pool::Submit, when its turn has come.
  void Submit(pg::Pool::Job job);

 private:
  void Start(pg::Pool::Job job);
  void Next();
  // Nothing can be read now: all that wait are told so, as they would be by the pool.
  void RefuseAll(const absl::Status& status);

  pg::Pool& pool_;
  const int at_once_;
  base::Mutex mutex_;
  int running_ ABSL_GUARDED_BY(mutex_) = 0;
  std::deque<pg::Pool::Job> waiting_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace skiplane::broker
