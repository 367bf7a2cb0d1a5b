// Puts tasks into queues: gathers concurrent calls per queue into one statement, those of several
// queues with those of their first one, answers each call, and reports the tasks that its commits
// left unleased. Tasks for which a worker waits, and before which none is known to go, that
// statement leases to it: a hand-off. Thread-safe.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "server/broker/api/calls.h"
#include "server/broker/batch/batcher.h"
#include "server/broker/batch/context.h"
#include "server/broker/enqueue/enqueue_batch.h"
#include "server/broker/enqueue/queue_room.h"
#include "server/broker/enqueue/schedule_check.h"
#include "server/broker/enqueue/task_numbers.h"
#include "server/broker/lease/dispatcher.h"
#include "server/broker/queues/queue_cache.h"

namespace skiplane::broker {

class Enqueuer {
 public:
  // `on_commit` is told of every commit, on a thread of the pool, before the callers are.
  using OnCommit = std::function<void(const store::Enqueued&)>;

  // `dispatcher` knows who waits; null: nothing is handed off.
  Enqueuer(Context& context, QueueCache& queues, Dispatcher* dispatcher, OnCommit on_commit)
      : context_(context),
        queues_(queues),
        dispatcher_(dispatcher),
        on_commit_(std::move(on_commit)),
        room_(context),
        schedules_(context) {}

  Enqueuer(const Enqueuer&) = delete;
  Enqueuer& operator=(const Enqueuer&) = delete;

  void Enqueue(EnqueueCall call, Callback<std::vector<EnqueueResult>> done);

  // Whether all other brokers of the database read packs; until it is known, none are made.
  void SetPeersReadPacks(bool peers_read_packs) { peers_read_packs_ = peers_read_packs; }

  // For tasks that `principal` wants, which are made in somebody else's transaction on `session`,
  // and name their queues: checks one, with `field` before the name of a bad field; writes many,
  // of which each has an answer, into an empty `written`; and, after the commit, tells of them.
  absl::StatusOr<std::unique_ptr<PendingEnqueue>> Prepare(pg::Session& session,
                                                          const model::NewTask& task,
                                                          const std::string& principal,
                                                          const std::string& field);
  struct Uncommitted {
    std::vector<const PendingEnqueue*> calls;
    store::Enqueued written;
  };
  absl::StatusOr<std::vector<EnqueueResult>> WriteInTransaction(pg::Session& session,
                                                                const PendingEnqueues& calls,
                                                                Uncommitted* written);
  void Committed(const Uncommitted& enqueued);
  // What WriteInTransaction had answered, after a commit whose answer was lost and which has
  // happened. A task that held the key counts as EXISTING, as for any repeat.
  absl::StatusOr<std::vector<EnqueueResult>> Recall(pg::Session& session,
                                                    const PendingEnqueue& call);

 private:
  using QueueBatcher = Batcher<std::unique_ptr<PendingEnqueue>>;

  void EnqueueIntoOne(std::unique_ptr<PendingEnqueue> pending);
  void EnqueueIntoSeveral(std::unique_ptr<PendingEnqueue> pending);
  void Add(std::unique_ptr<PendingEnqueue> pending);
  // `fields`: where each of the queues of `wants` was named.
  void TakeRoom(std::unique_ptr<PendingEnqueue> pending, QueueRoom::Wants wants,
                std::vector<std::string> fields);
  void CheckSchedules(std::unique_ptr<PendingEnqueue> pending);
  QueueBatcher& BatcherOf(const model::Queue& queue);
  void RefuseDeleted(pg::Session& session, PendingEnqueues& calls);
  void Run(absl::StatusOr<pg::Session*> session, PendingEnqueues calls);
  void Write(pg::Session& session, PendingEnqueues calls);
  void WriteEach(PendingEnqueues calls);
  absl::StatusOr<store::Enqueued> WriteAndHandOff(pg::Session& session,
                                                  const PendingEnqueues& calls);
  // One statement, and what it means for the scheduler. `hand_off`: may be null.
  absl::StatusOr<store::Enqueued> WriteOnce(pg::Session& session, const PendingEnqueues& calls,
                                            absl::Span<const store::TaskRow> rows,
                                            const store::HandOff* hand_off);
  void Answer(pg::Session& session, const store::Enqueued& written, PendingEnqueues calls);
  void Count(const PendingEnqueue& call, const store::Enqueued& written);
  using ResolveStep = std::function<void(pg::Session&, PendingEnqueues)>;
  void Resolve(PendingEnqueues calls);
  void SubmitResolve(PendingEnqueues calls, ResolveStep step);

  Context& context_;
  QueueCache& queues_;
  Dispatcher* const dispatcher_;
  const OnCommit on_commit_;
  QueueRoom room_;
  ScheduleCheck schedules_;
  TaskNumbers numbers_;
  std::atomic<bool> peers_read_packs_ = false;
  base::Mutex mutex_;
  absl::flat_hash_map<int64_t, std::unique_ptr<QueueBatcher>> batchers_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace skiplane::broker
