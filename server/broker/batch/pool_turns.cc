#include "server/broker/batch/pool_turns.h"

#include <utility>
#include <vector>

namespace skiplane::broker {

void PoolTurns::Submit(const std::string& party, pg::Pool::Job job) {
  {
    base::MutexLock lock(mutex_);
    Party& its = parties_[party];
    if (running_ >= at_once_ || its.running >= of_party_at_once_) {
      if (its.waiting.empty()) turns_.push_back(party);
      its.waiting.push_back(std::move(job));
      return;
    }
    ++running_;
    ++its.running;
  }
  Start(party, std::move(job));
}

void PoolTurns::Start(const std::string& party, pg::Pool::Job job) {
  pool_.Submit([this, party, job = std::move(job)](absl::StatusOr<pg::Session*> session) mutable {
    const absl::Status status = session.status();
    job(std::move(session));
    if (!status.ok()) RefuseAll(status);
    Ended(party);
  });
}

// At most one can begin for one that has ended.
void PoolTurns::Ended(const std::string& party) {
  std::string next;
  pg::Pool::Job job;
  {
    base::MutexLock lock(mutex_);
    --running_;
    const auto its = parties_.find(party);
    if (--its->second.running == 0 && its->second.waiting.empty()) parties_.erase(its);
    job = Take(&next);
  }
  if (job != nullptr) Start(next, std::move(job));
}

pg::Pool::Job PoolTurns::Take(std::string* party) {
  for (auto turn = turns_.begin(); turn != turns_.end(); ++turn) {
    Party& its = parties_[*turn];
    if (its.running >= of_party_at_once_) continue;
    pg::Pool::Job job = std::move(its.waiting.front());
    its.waiting.pop_front();
    ++its.running;
    ++running_;
    *party = *turn;
    if (its.waiting.empty()) {
      turns_.erase(turn);
    } else {
      turns_.splice(turns_.end(), turns_, turn);
    }
    return job;
  }
  return nullptr;
}

void PoolTurns::RefuseAll(const absl::Status& status) {
  std::vector<pg::Pool::Job> refused;
  {
    base::MutexLock lock(mutex_);
    for (const std::string& party : turns_) {
      const auto its = parties_.find(party);
      for (pg::Pool::Job& job : its->second.waiting) refused.push_back(std::move(job));
      its->second.waiting.clear();
      if (its->second.running == 0) parties_.erase(its);
    }
    turns_.clear();
  }
  for (pg::Pool::Job& job : refused) job(status);
}

}  // namespace skiplane::broker
