// The jobs of a pool that wait for a thread, and how many threads wait for a job. Parties take
// turns, each with its oldest job, so that one with many jobs delays only itself; and where there
// are three threads and more, none has all of them. Not thread-safe but for HasSpare()
// and HasBacklog().
#pragma once

#include <atomic>
#include <list>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "server/pg/session.h"

namespace skiplane::pg {

enum class JobRank {
  kFirst,   // before those of all parties: what is seldom and short, and must not come late
  kInTurn,  // as the party's turn comes
  kLast,    // when no other waits
};

// How a job waits. A party is whoever wants it; what the broker itself wants has a name for each
// purpose.
struct JobOrder {
  std::string party{};
  JobRank rank = JobRank::kInTurn;
};

class JobQueue {
 public:
  using Job = absl::AnyInvocable<void(absl::StatusOr<Session*>)>;
  struct Taken {
    Job job;
    std::optional<std::string> party{};  // to be told of its end, if it was in turn
  };

  explicit JobQueue(int threads) : of_party_(threads > 2 ? threads - 1 : threads) {}

  bool empty() const { return size_ == 0; }
  int size() const { return size_; }
  int idle() const { return idle_; }

  // Whether a thread would still be idle if one more job came now. From any thread: a look, not a
  // promise.
  bool HasSpare() const { return spare_.load(std::memory_order_relaxed) >= 2; }
  // The same of whether a job waits that no idle thread is about to take.
  bool HasBacklog() const { return spare_.load(std::memory_order_relaxed) < 0; }

  void Push(Job job, const JobOrder& order = {}) {
    if (order.rank == JobRank::kInTurn) {
      Party& party = parties_[order.party];
      if (party.jobs.empty()) turns_.push_back(order.party);
      party.jobs.push_back(std::move(job));
    } else {
      (order.rank == JobRank::kFirst ? first_ : last_).push_back(std::move(job));
    }
    Count(1);
  }
  // To the front: it was taken and could not be begun.
  void PutBack(Taken taken) {
    End(taken);
    first_.push_front(std::move(taken.job));
    Count(1);
  }

  // Whether a thread may take one. `any`: also one of a party that has its part of the threads.
  bool HasNext(bool any = false) {
    return !first_.empty() || NextTurn(any) != turns_.end() || (turns_.empty() && !last_.empty());
  }
  // There is one.
  Taken Take(bool any = false) {
    Taken taken = first_.empty() ? TakeInTurn(any) : Taken{TakeOf(first_)};
    Count(-1);
    return taken;
  }
  // There is one, whoever's.
  Job TakeToRefuse() {
    Taken taken = Take(true);
    End(taken);
    return std::move(taken.job);
  }
  // A job that was taken is over.
  void End(const Taken& taken) {
    if (!taken.party.has_value()) return;
    const auto party = parties_.find(*taken.party);
    --party->second.running;
    if (party->second.running == 0 && party->second.jobs.empty()) parties_.erase(party);
  }

  // A thread waits for a job, and no longer.
  void BeginIdle() {
    ++idle_;
    Count(0);
  }
  void EndIdle() {
    --idle_;
    Count(0);
  }

 private:
  struct Party {
    std::list<Job> jobs;
    int running = 0;
  };

  static Job TakeOf(std::list<Job>& jobs) {
    Job job = std::move(jobs.front());
    jobs.pop_front();
    return job;
  }
  std::list<std::string>::iterator NextTurn(bool any) {
    auto turn = turns_.begin();
    while (turn != turns_.end() && !any && parties_[*turn].running >= of_party_) ++turn;
    return turn;
  }
  Taken TakeInTurn(bool any) {
    const auto turn = NextTurn(any);
    if (turn == turns_.end()) return {TakeOf(last_)};
    Party& party = parties_[*turn];
    Taken taken{TakeOf(party.jobs), *turn};
    ++party.running;
    if (party.jobs.empty()) {
      turns_.erase(turn);
    } else {
      turns_.splice(turns_.end(), turns_, turn);
    }
    return taken;
  }
  void Count(int jobs) {
    size_ += jobs;
    spare_.store(idle_ - size_, std::memory_order_relaxed);
  }

  const int of_party_;
  std::list<Job> first_;  // those that were put back, and those of this rank
  std::list<Job> last_;
  std::unordered_map<std::string, Party> parties_;  // those with a job that waits or runs
  std::list<std::string> turns_;  // of those with one that waits, in order
  int size_ = 0;
  int idle_ = 0;
  std::atomic<int> spare_ = 0;  // idle threads beyond those for which a job waits
};

}  // namespace skiplane::pg
