#include "server/broker/lease/lease_tracker.h"

namespace skiplane::broker {

void LeaseTracker::Leased(int64_t lane, const pg::Uuid& ledger,
                          absl::Span<const model::LeaseToken> tokens, base::SteadyTime now) {
  if (tokens.empty() || tokens.size() > leases_max_ / 2) return;
  auto row = std::make_shared<Row>(Row{ledger, tokens.size()});
  Rows forgotten;  // destroyed after the lock is released: there may be many
  base::MutexLock lock(mutex_);
  if (young_since_ + kGeneration <= now || young_.size() + tokens.size() > leases_max_ / 2) {
    forgotten = std::exchange(old_, std::exchange(young_, {}));
    young_since_ = now;
  }
  // Bounds what upkeep would fold anyway if nobody settles in this lane any more.
  if (finished_[lane].size() > leases_max_ / 100) finished_[lane].clear();
  for (const model::LeaseToken& token : tokens) young_[{token.task.id, token.lease_number}] = row;
}

void LeaseTracker::Settled(const model::LeaseToken& token) {
  base::MutexLock lock(mutex_);
  if (!Settle(young_, token)) Settle(old_, token);
}

bool LeaseTracker::Settle(Rows& rows, const model::LeaseToken& token) {
  const auto found = rows.find({token.task.id, token.lease_number});
  if (found == rows.end()) return false;
  Row& row = *found->second;
  if (--row.open == 0) finished_[token.task.lane].push_back(row.ledger);
  rows.erase(found);
  return true;
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
