#include "server/broker/operate/list_turns.h"

#include <utility>

namespace skiplane::broker {

void ListTurns::Submit(pg::Pool::Job job) {
  {
    base::MutexLock lock(mutex_);
    if (running_ >= at_once_) {
      waiting_.push_back(std::move(job));
      return;
    }
    ++running_;
  }
  Start(std::move(job));
}

void ListTurns::Start(pg::Pool::Job job) {
  pool_.Submit([this, job = std::move(job)](absl::StatusOr<pg::Session*> session) mutable {
    const absl::Status status = session.status();
    job(std::move(session));
    if (!status.ok()) RefuseAll(status);
    Next();
  });
}

void ListTurns::Next() {
  pg::Pool::Job job;
  {
    base::MutexLock lock(mutex_);
    if (waiting_.empty()) {
      --running_;
      return;
    }
    job = std::move(waiting_.front());
    waiting_.pop_front();
  }
  Start(std::move(job));
}

void ListTurns::RefuseAll(const absl::Status& status) {
  std::deque<pg::Pool::Job> refused;
  {
    base::MutexLock lock(mutex_);
    refused.swap(waiting_);
  }
  for (pg::Pool::Job& job : refused) job(status);
}

}  // namespace skiplane::broker
