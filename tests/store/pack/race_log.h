// What several sessions did to the tasks of one lane, as the store answered them. The database
// commits in an order that the log does not know: what does not depend on that is checked at once,
// the rest at the end. Thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "server/base/mutex.h"
#include "server/model/lease.h"
#include "server/store/reclaim.h"
#include "server/store/settle.h"

namespace skiplane::testing {

class RaceLog {
 public:
  using Tokens = std::vector<model::LeaseToken>;

  void Made(const absl::flat_hash_set<int64_t>& ids);
  void Leased(const model::LeaseToken& token);
  // The store says that it settled this lease, which must not have been over before it began to.
  void Settled(const model::LeaseToken& token, store::Action outcome, bool was_over);
  void Reclaimed(const store::Reclaimed& reclaimed, store::Action as);
  // By an operator, while they waited.
  void Cancelled(std::span<const int64_t> ids);

  bool IsLease(const model::LeaseToken& token);
  // As far as is known: the task may belong to another lease by now, too.
  bool IsOver(const model::LeaseToken& token);
  // Tasks that are known to be made and not to have ended; those that nobody is known to hold.
  std::vector<int64_t> Living();
  std::vector<int64_t> Waiting();
  int64_t LastLeased();

  // Nothing happens any more: each task ended once, under the last of its leases, and each of the
  // others was given or taken back.
  void ExpectEachTaskEndedOnce();

  // What history must have, a line per task, ordered by task: id, outcome and session of its end.
  std::string History();
  int64_t Count(store::Action outcome);  // of attempts; kCancel: of tasks
  int64_t MadeCount();

 private:
  struct End {
    store::Action outcome = store::Action::kAck;
    bool is_attempts = true;          // else an operator's
    model::LeaseToken token;          // of an ack
  };
  struct Life {
    bool is_made = false;
    Tokens leases;
    Tokens returned;
    std::vector<End> ends;

    const model::LeaseToken* Last() const;
  };

  bool Holds(const Life& life) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void ExpectOneEnd(int64_t id, const Life& life) const;

  base::Mutex mutex_;
  std::map<int64_t, Life> lives_ ABSL_GUARDED_BY(mutex_);
  std::map<store::Action, int64_t> counts_ ABSL_GUARDED_BY(mutex_);
  int64_t last_leased_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t taken_back_ ABSL_GUARDED_BY(mutex_) = 0;  // and made ready again
};

}  // namespace skiplane::testing
