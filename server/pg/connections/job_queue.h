// The jobs of a pool that wait for a thread, and how many threads wait for a job. Parties take
// turns, each with its oldest job: who has brought many of them waits for himself. Not thread-safe
// but for HasSpare().
#pragma once

#include <atomic>
#include <cstddef>
#include <list>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "server/pg/session.h"

namespace skiplane::pg {

// How a job waits.
struct JobOrder {
  std::string party{};     // who wants it; empty: the broker itself
  bool is_urgent = false;  // before those of all parties: for what is seldom and short
};

class JobQueue {
 public:
  using Job = absl::AnyInvocable<void(absl::StatusOr<Session*>)>;

  bool empty() const { return size_ == 0; }
  size_t size() const { return size_; }
  int idle() const { return idle_; }

  // Whether a thread would still be idle if one more job came now. From any thread: a look, not a
  // promise.
  bool HasSpare() const { return spare_.load(std::memory_order_relaxed) >= 2; }

  void Push(Job job, const JobOrder& order = {}) {
    JobsOf(order).push_back(std::move(job));
    ++size_;
    Count();
  }
  // To the front: it was taken and could not be begun.
  void PutBack(Job job) {
    first_.push_front(std::move(job));
    ++size_;
    Count();
  }
  Job Take() {
    Job job = first_.empty() ? TakeOfParty() : TakeOf(first_);
    --size_;
    Count();
    return job;
  }

  // A thread waits for a job, and no longer.
  void BeginIdle() {
    ++idle_;
    Count();
  }
  void EndIdle() {
    --idle_;
    Count();
  }

 private:
  struct Party {
    std::string name;
    std::list<Job> jobs;
  };

  std::list<Job>& JobsOf(const JobOrder& order) {
    if (order.is_urgent) return first_;
    const auto [place, is_new] = places_.try_emplace(order.party);
    if (is_new) place->second = turns_.insert(turns_.end(), Party{order.party, {}});
    return place->second->jobs;
  }
  static Job TakeOf(std::list<Job>& jobs) {
    Job job = std::move(jobs.front());
    jobs.pop_front();
    return job;
  }
  Job TakeOfParty() {
    Party& party = turns_.front();
    Job job = TakeOf(party.jobs);
    if (party.jobs.empty()) {
      places_.erase(party.name);
      turns_.pop_front();
    } else {
      turns_.splice(turns_.end(), turns_, turns_.begin());
    }
    return job;
  }
  void Count() {
    spare_.store(idle_ - static_cast<int>(size_), std::memory_order_relaxed);
  }

  std::list<Job> first_;  // those that were put back, and urgent ones
  std::list<Party> turns_;  // with a job that waits, in the order of their turns
  absl::flat_hash_map<std::string, std::list<Party>::iterator> places_;
  size_t size_ = 0;
  int idle_ = 0;
  std::atomic<int> spare_ = 0;  // idle threads beyond those for which a job waits
};

}  // namespace skiplane::pg
