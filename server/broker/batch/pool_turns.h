// Whose turn it is at the pool, of jobs that may be many or take long: operators' reads, steps of
// bulk operations, probes. Only some connections make them at a time, so that they hold up no other
// call, also when their callers have left. Parties take turns, each with its oldest job: one that
// has many of them waits for itself. A party of reads is a principal or, where nobody proves who it
// is, a connection; of probes it is a lane; all steps of bulk operations are one.
//
// Thread-safe. Outlives the jobs of the pool.
#pragma once

#include <algorithm>
#include <deque>
#include <list>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "server/base/mutex.h"
#include "server/pg/connections/pool.h"

namespace skiplane::broker {

class PoolTurns {
 public:
  // As many at a time as are a `part`th of the pool's `connections`, and at least one.
  PoolTurns(pg::Pool& pool, int connections, int part)
      : pool_(pool), at_once_(std::max(1, connections / part)) {}

  // As Pool::Submit, when its turn has come.
  void Submit(const std::string& party, pg::Pool::Job job);

  // A pool, as far as jobs of `party` are concerned. For as long as that lives.
  struct OfParty {
    PoolTurns& turns;
    const std::string& party;
    void Submit(pg::Pool::Job job) { turns.Submit(party, std::move(job)); }
  };

 private:
  struct Waiting {
    std::string party;
    std::deque<pg::Pool::Job> jobs;  // never empty
  };
  using Parties = std::list<Waiting>;

  void Start(pg::Pool::Job job);
  void Next();
  pg::Pool::Job TakeFirst() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // There is no connection: all that wait are told so, as they would be by the pool.
  void RefuseAll(const absl::Status& status);

  pg::Pool& pool_;
  const int at_once_;
  base::Mutex mutex_;
  int running_ ABSL_GUARDED_BY(mutex_) = 0;
  Parties waiting_ ABSL_GUARDED_BY(mutex_);  // in the order of their turns
  absl::flat_hash_map<std::string, Parties::iterator> by_party_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace skiplane::broker
