#include "server/broker/lease_tracker.h"

namespace skiplane::broker {

void LeaseTracker::Leased(int64_t lane, const pg::Uuid& ledger,
                          absl::Span<const model::LeaseToken> tokens) {
  if (tokens.empty()) return;
  auto row = std::make_shared<Row>(Row{ledger, tokens.size()});
  base::MutexLock lock(mutex_);
  if (rows_.size() + tokens.size() > leases_max_) return;
  // Bounds what upkeep would fold anyway if nobody settles in this lane any more.
  if (finished_[lane].size() > leases_max_ / 100) finished_[lane].clear();
  for (const model::LeaseToken& token : tokens) rows_[{token.task.id, token.lease_no}] = row;
}

void LeaseTracker::Settled(const model::LeaseToken& token) {
  base::MutexLock lock(mutex_);
  const auto found = rows_.find({token.task.id, token.lease_no});
  if (found == rows_.end()) return;
  Row& row = *found->second;
  if (--row.open == 0) finished_[token.task.lane].push_back(row.ledger);
  rows_.erase(found);
}

std::vector<pg::Uuid> LeaseTracker::TakeFinished(int64_t lane, size_t limit) {
  base::MutexLock lock(mutex_);
  std::vector<pg::Uuid>& finished = finished_[lane];
  std::vector<pg::Uuid> taken;
  while (!finished.empty() && taken.size() < limit) {
    taken.push_back(finished.back());
    finished.pop_back();
  }
  return taken;
}

}  // namespace skiplane::broker
