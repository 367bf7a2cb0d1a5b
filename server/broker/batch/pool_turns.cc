#include "server/broker/job/pool_turns.h"

#include <utility>

namespace skiplane::broker {

void PoolTurns::Submit(const std::string& party, pg::Pool::Job job) {
  {
    base::MutexLock lock(mutex_);
    if (running_ >= at_once_) {
      const auto [place, is_new] = by_party_.try_emplace(party);
      if (is_new) place->second = waiting_.insert(waiting_.end(), Waiting{party, {}});
      place->second->jobs.push_back(std::move(job));
      return;
    }
    ++running_;
  }
  Start(std::move(job));
}

void PoolTurns::Start(pg::Pool::Job job) {
  pool_.Submit([this, job = std::move(job)](absl::StatusOr<pg::Session*> session) mutable {
    const absl::Status status = session.status();
    job(std::move(session));
    if (!status.ok()) RefuseAll(status);
    Next();
  });
}

void PoolTurns::Next() {
  pg::Pool::Job job;
  {
    base::MutexLock lock(mutex_);
    if (waiting_.empty()) {
      --running_;
      return;
    }
    job = TakeFirst();
  }
  Start(std::move(job));
}

pg::Pool::Job PoolTurns::TakeFirst() {
  Waiting& first = waiting_.front();
  pg::Pool::Job job = std::move(first.jobs.front());
  first.jobs.pop_front();
  if (first.jobs.empty()) {
    by_party_.erase(first.party);
    waiting_.pop_front();
  } else {
    waiting_.splice(waiting_.end(), waiting_, waiting_.begin());
  }
  return job;
}

void PoolTurns::RefuseAll(const absl::Status& status) {
  Parties refused;
  {
    base::MutexLock lock(mutex_);
    refused.swap(waiting_);
    by_party_.clear();
  }
  for (Waiting& waiting : refused) {
    for (pg::Pool::Job& job : waiting.jobs) job(status);
  }
}

}  // namespace skiplane::broker
