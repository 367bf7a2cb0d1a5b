// Whose turn it is at the pool, of what takes a connection for itself: calls that are in no batch,
// steps of bulk operations, probes. All of these together leave a connection to batches, and, where
// there are three and more, those of operators another one to what workers and producers wait for,
// however many there are, also when their callers have left.
//
// Each kind has a part of the connections. Within it parties take turns, each with its oldest job:
// one that has many of them waits for itself. A party of calls is a principal or, where nobody
// proves who it is, a connection; of steps it is a queue, of probes a lane. A turn is a time: jobs
// that are short follow one another on the same connection, and one that is long goes on with
// another turn.
//
// Thread-safe. Outlives the jobs of the pool.
#pragma once

#include <chrono>
#include <deque>
#include <list>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "server/base/mutex.h"
#include "server/base/timer.h"
#include "server/pg/connections/pool.h"

namespace skiplane::broker {

inline constexpr std::chrono::milliseconds kTurn(100);

enum class TurnOf {
  kWork,   // calls of workers and producers that ask for what is not known
  kProbe,  // looks at lanes for which workers wait
  kCall,   // operators' changes, and looks at one thing
  kList,   // their lists, which may take long
  kStep,   // of bulk operations
};

class PoolTurns {
 public:
  PoolTurns(pg::Pool& pool, int connections);

  // As Pool::Submit, when its turn has come.
  void Submit(TurnOf kind, const std::string& party, pg::Pool::Job job);

 private:
  struct Party {
    int running = 0;
    std::deque<pg::Pool::Job> waiting;
  };
  struct Kind {
    int at_once = 1;  // of all its parties
    int of_party = 1;
    int running = 0;
    absl::flat_hash_map<std::string, Party> parties;  // those with a job that runs or waits
    std::list<std::string> turns;                     // of those with one that waits, in order
  };
  struct Next {
    TurnOf kind = TurnOf::kWork;
    std::string party;
    pg::Pool::Job job;  // null: none
  };

  Kind& Of(TurnOf kind) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return kinds_[static_cast<size_t>(kind)];
  }
  bool HasRoom(TurnOf kind) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Count(TurnOf kind, Party& party, int jobs) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Start(Next next);
  // The job has ended. What begins instead, and counts as running.
  Next Ended(TurnOf kind, const std::string& party);
  Next Take() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Next TakeOf(TurnOf kind) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // There is no connection: all that wait are told so, as they would be by the pool.
  void RefuseAll(const absl::Status& status);

  static constexpr size_t kKinds = 5;
  pg::Pool& pool_;
  const int all_at_once_;
  const int of_operators_at_once_;
  base::Mutex mutex_;
  Kind kinds_[kKinds] ABSL_GUARDED_BY(mutex_);
  int running_ ABSL_GUARDED_BY(mutex_) = 0;
  int of_operators_ ABSL_GUARDED_BY(mutex_) = 0;  // that run
  size_t last_ ABSL_GUARDED_BY(mutex_) = 0;       // kind that had a turn
};

}  // namespace skiplane::broker
