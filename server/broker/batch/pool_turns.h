// Whose turn it is at the pool, of jobs that may be many or take long: those of single calls, steps
// of bulk operations, probes. Only some connections make them at a time, so that they hold up no
// batch, also when their callers have left. Parties take turns, each with its oldest job: one that
// has many of them waits for itself. A party of calls is a principal or, where nobody proves who it
// is, a connection; of steps it is a queue, of probes a lane.
//
// Thread-safe. Outlives the jobs of the pool.
#pragma once

#include <algorithm>
#include <chrono>
#include <deque>
#include <list>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "server/base/mutex.h"
#include "server/pg/connections/pool.h"

namespace skiplane::broker {

// A job that takes longer goes on with another turn.
inline constexpr std::chrono::milliseconds kTurn(100);

class PoolTurns {
 public:
  // As many at a time as are a `part`th of the pool's `connections`, and at least one; of a party a
  // `part_of_party`th of these, and at least one.
  PoolTurns(pg::Pool& pool, int connections, int part, int part_of_party = 1)
      : pool_(pool),
        at_once_(std::max(1, connections / part)),
        of_party_at_once_(std::max(1, at_once_ / part_of_party)) {}

  // As Pool::Submit, when its turn has come.
  void Submit(const std::string& party, pg::Pool::Job job);

 private:
  struct Party {
    int running = 0;
    std::deque<pg::Pool::Job> waiting;
  };

  void Start(const std::string& party, pg::Pool::Job job);
  void Ended(const std::string& party);
  // The job whose turn it is, which counts as running, and its party; null if there is none.
  pg::Pool::Job Take(std::string* party) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // There is no connection: all that wait are told so, as they would be by the pool.
  void RefuseAll(const absl::Status& status);

  pg::Pool& pool_;
  const int at_once_;
  const int of_party_at_once_;
  base::Mutex mutex_;
  int running_ ABSL_GUARDED_BY(mutex_) = 0;
  // Those with a job that runs or waits.
  absl::flat_hash_map<std::string, Party> parties_ ABSL_GUARDED_BY(mutex_);
  std::list<std::string> turns_ ABSL_GUARDED_BY(mutex_);  // of those with one that waits, in order
};

}  // namespace skiplane::broker
