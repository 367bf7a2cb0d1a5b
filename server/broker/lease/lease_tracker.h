// Remembers which ledger row each lease of this broker is in, so that a row can be deleted when its
// last task was settled, without asking the database.
//
// A row is named only after its tasks are known to be settled, and is deleted by a later statement:
// deleting it together with them could lose a lease that the statement turned out not to settle.
// The broker does not learn of leases that end elsewhere. So it remembers leases in two
// generations: every minute, or when the younger one has half of what may be held, it becomes the
// older one, and the one before is dropped. Upkeep folds the rows of dropped leases; after 2
// minutes it gives rows other ids anyway. Thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "server/base/mutex.h"
#include "server/base/timer.h"
#include "server/model/lease.h"
#include "server/pg/params.h"

namespace skiplane::broker {

class LeaseTracker {
 public:
  static constexpr std::chrono::seconds kGeneration{60};

  explicit LeaseTracker(size_t leases_max) : leases_max_(leases_max) {}

  // The tasks that were leased under one ledger row of a lane, just now.
  void Leased(int64_t lane, const pg::Uuid& ledger, absl::Span<const model::LeaseToken> tokens,
              base::SteadyTime now = std::chrono::steady_clock::now());

  // A lease is over.
  void Settled(const model::LeaseToken& token);

  // Up to `limit` ledger rows of the lane whose tasks are all settled. Each is returned once.
  std::vector<pg::Uuid> TakeFinished(int64_t lane, size_t limit);

 private:
  struct Row {
    pg::Uuid ledger;
    size_t open;
  };
  using Key = std::pair<int64_t, int64_t>;  // task id and lease number
  using Rows = absl::flat_hash_map<Key, std::shared_ptr<Row>>;

  bool Settle(Rows& rows, const model::LeaseToken& token) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const size_t leases_max_;
  base::Mutex mutex_;
  Rows young_ ABSL_GUARDED_BY(mutex_);
  Rows old_ ABSL_GUARDED_BY(mutex_);
  base::SteadyTime young_since_ ABSL_GUARDED_BY(mutex_){};
  absl::flat_hash_map<int64_t, std::vector<pg::Uuid>> finished_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace skiplane::broker
