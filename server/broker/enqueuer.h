// Puts tasks into queues: gathers concurrent calls per queue into one statement, answers each call,
// and tells of what became claimable. Thread-safe.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "server/broker/batcher.h"
#include "server/broker/calls.h"
#include "server/broker/context.h"
#include "server/broker/enqueue_batch.h"
#include "server/broker/queue_cache.h"
#include "server/broker/task_numbers.h"

namespace skiplane::broker {

class Enqueuer {
 public:
  // `on_commit` is told of every commit, on a thread of the pool, before the callers are.
  using OnCommit = std::function<void(const store::Enqueued&)>;

  Enqueuer(Context& context, OnCommit on_commit)
      : context_(context), on_commit_(std::move(on_commit)) {}

  void Enqueue(QueuePtr queue, EnqueueCall call, Done<std::vector<EnqueueResult>> done);

 private:
  using QueueBatcher = Batcher<std::unique_ptr<PendingEnqueue>>;

  QueueBatcher& BatcherOf(const model::Queue& queue);
  void Run(absl::StatusOr<pg::Session*> session, PendingEnqueues calls);
  void Write(pg::Session& session, PendingEnqueues calls);
  void Answer(pg::Session& session, const store::Enqueued& written, PendingEnqueues calls);
  void Count(const PendingEnqueue& call, const store::Enqueued& written);
  using ResolveStep = std::function<void(pg::Session&, PendingEnqueues)>;
  void Resolve(PendingEnqueues calls);
  void SubmitResolve(PendingEnqueues calls, ResolveStep step);

  Context& context_;
  const OnCommit on_commit_;
  TaskNumbers numbers_;
  base::Mutex mutex_;
  absl::flat_hash_map<int64_t, std::unique_ptr<QueueBatcher>> batchers_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace skiplane::broker
