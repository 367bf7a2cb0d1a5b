// Remembers which ledger row each lease of this broker is in, so that a row can be deleted when its
// last task was settled, without asking the database.
//
// A row is named only after its tasks are known to be settled, and is deleted by a later statement:
// deleting it together with them could lose a lease that the statement turned out not to settle.
// What is not remembered here (another broker's leases, or too many) is folded by upkeep.
// Thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "server/base/mutex.h"
#include "server/model/lease.h"
#include "server/pg/params.h"

namespace skiplane::broker {

class LeaseTracker {
 public:
  explicit LeaseTracker(size_t leases_max) : leases_max_(leases_max) {}

  // The tasks that were leased under one ledger row of a lane.
  void Leased(int64_t lane, const pg::Uuid& ledger, absl::Span<const model::LeaseToken> tokens);

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

  const size_t leases_max_;
  base::Mutex mutex_;
  absl::flat_hash_map<Key, std::shared_ptr<Row>> rows_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<int64_t, std::vector<pg::Uuid>> finished_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace skiplane::broker
