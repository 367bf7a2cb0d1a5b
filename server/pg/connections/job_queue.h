// The jobs of a pool that wait for a thread, and how many threads wait for a job. Parties take
// turns, each with its oldest job, so that one with many jobs delays only itself. One whose jobs
// take long leaves a thread to others, where there are three and more. Not thread-safe but for
// HasSpare() and HasBacklog().
#pragma once

#include <atomic>
#include <chrono>
#include <list>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "absl/container/flat_hash_map.h"
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

// A party with a job that took longer has its part of the threads for so long.
inline constexpr std::chrono::milliseconds kLongJob(100);
inline constexpr std::chrono::minutes kLongFor(10);

class JobQueue {
 public:
  using Job = absl::AnyInvocable<void(absl::StatusOr<Session*>)>;
  using SteadyTime = std::chrono::steady_clock::time_point;
  struct Taken {
    Job job;
    std::optional<std::string> party{};  // if it was in turn
    SteadyTime began{};
  };

  explicit JobQueue(int threads) : threads_(threads) {}

  bool empty() const { return size_ == 0; }
  int size() const { return size_; }
  int idle() const { return idle_; }

  // Whether a thread would still be idle if one more job came now. From any thread: a look, not a
  // promise.
  bool HasSpare() const { return spare_.load(std::memory_order_relaxed) >= 2; }
  // The same of whether a job waits that no idle thread is about to take.
  bool HasBacklog() const { return spare_.load(std::memory_order_relaxed) < 0; }

  void Push(Job job, const JobOrder& order = {});
  // To the front: it was taken and could not be begun.
  void PutBack(Taken taken);

  // Whether a thread may take one. `any`: also one of a party that has its part of the threads.
  bool HasNext(bool any = false);
  // There is one.
  Taken Take(bool any = false);
  // There is one, whoever's.
  Job TakeToRefuse();
  // A job that was taken is over.
  void End(const Taken& taken, SteadyTime now = std::chrono::steady_clock::now());

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

  std::list<std::string>::iterator NextTurn(bool any);
  Taken TakeInTurn(bool any);
  bool HasItsPart(const std::string& name);
  void Count(int jobs) {
    size_ += jobs;
    spare_.store(idle_ - size_, std::memory_order_relaxed);
  }

  const int threads_;
  std::list<Job> first_;  // those that were put back, and those of this rank
  std::list<Job> last_;
  std::unordered_map<std::string, Party> parties_;  // those with a job that waits or runs
  std::list<std::string> turns_;                    // of those with one that waits, in order
  absl::flat_hash_map<std::string, SteadyTime> long_until_;  // of parties whose jobs took long
  int size_ = 0;
  int idle_ = 0;
  std::atomic<int> spare_ = 0;  // idle threads beyond those for which a job waits
};

}  // namespace skiplane::pg
