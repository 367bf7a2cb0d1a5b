// Whether the queues that have limits of their own (max_depth, max_bytes, max_enqueue_rate) have
// room for what a call brings. Others cost nothing here.
//
// What a queue holds is counted in the database while calls come: its tasks by their counters, its
// bytes by reading its tasks. What this broker lets in meanwhile is added. So a limit may be passed
// by what other brokers let in between two counts, and a queue that has become empty is taken for
// full until the next one. A rate is that of this broker. What acks and operators make is never
// refused. Thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "server/base/mutex.h"
#include "server/base/timer.h"
#include "server/base/token_bucket.h"
#include "server/broker/api/calls.h"
#include "server/broker/batch/context.h"
#include "server/broker/enqueue/fill_level.h"

namespace skiplane::broker {

class QueueRoom {
 public:
  struct Want {
    QueuePtr queue;
    int64_t tasks = 0;
    int64_t bytes = 0;

    static Want Of(QueuePtr queue, const std::vector<model::NewTask>& tasks);
    void Add(const model::NewTask& task);
    // REQUEST_TOO_LARGE if the queue has no room for it even when it is empty.
    absl::Status CheckFits() const;
  };
  using Wants = std::vector<Want>;
  // `which`: the want that is refused.
  using Answer = absl::AnyInvocable<void(absl::Status status, size_t which)>;

  explicit QueueRoom(Context& context) : context_(context) {}

  // Takes the room for all or none: QUEUE_FULL or ENQUEUE_RATE_EXCEEDED, with a hint when there may
  // be room. At once, or from a thread of the pool.
  void Take(Wants wants, Answer answer);
  // To be told once what was taken has been answered; what `failed` has not come and is given back.
  void Ended(const Wants& wants, bool failed);

 private:
  struct State {
    FillLevel tasks;
    FillLevel bytes;
    std::optional<base::TokenBucket> rate;
    bool is_counting = false;
    std::vector<absl::AnyInvocable<void(absl::Status)>> waiting;  // for a count
  };
  struct Outcome {
    absl::Status status;  // why not
    bool needs_count = false;
    size_t which = 0;
  };

  void GiveBack(const Want& want) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Outcome TakeAll(const Wants& wants) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Outcome TakeOne(const Want& want, base::SteadyTime now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Wait(Wants wants, Answer answer, size_t which) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Count(const QueuePtr& queue);
  absl::Status RunCount(pg::Session& session, const model::Queue& queue);
  void EndCount(const model::Queue& queue, const absl::Status& status);

  Context& context_;
  base::Mutex mutex_;
  absl::flat_hash_map<int64_t, State> states_ ABSL_GUARDED_BY(mutex_);  // of queues with limits
};

}  // namespace skiplane::broker
