// The jobs of a pool that wait for a thread, and how many threads wait for a job. Not thread-safe
// but for HasSpare().
#pragma once

#include <atomic>
#include <cstddef>
#include <deque>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "server/pg/session.h"

namespace skiplane::pg {

class JobQueue {
 public:
  using Job = absl::AnyInvocable<void(absl::StatusOr<Session*>)>;

  bool empty() const { return jobs_.empty(); }
  size_t size() const { return jobs_.size(); }
  int idle() const { return idle_; }

  // Whether a thread would still be idle if one more job came now. From any thread: a look, not a
  // promise.
  bool HasSpare() const { return spare_.load(std::memory_order_relaxed) >= 2; }

  // An urgent one before all that wait, but other urgent ones.
  void Push(Job job, bool is_urgent = false) {
    jobs_.insert(is_urgent ? jobs_.begin() + static_cast<std::ptrdiff_t>(urgent_) : jobs_.end(),
                 std::move(job));
    if (is_urgent) ++urgent_;
    Count();
  }
  // To the front: it was taken and could not be begun.
  void PutBack(Job job) {
    jobs_.push_front(std::move(job));
    ++urgent_;
    Count();
  }
  Job Take() {
    Job job = std::move(jobs_.front());
    jobs_.pop_front();
    if (urgent_ > 0) --urgent_;
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
  void Count() {
    spare_.store(idle_ - static_cast<int>(jobs_.size()), std::memory_order_relaxed);
  }

  std::deque<Job> jobs_;
  size_t urgent_ = 0;  // of them, at the front
  int idle_ = 0;
  std::atomic<int> spare_ = 0;  // idle threads beyond those for which a job waits
};

}  // namespace skiplane::pg
