// The queues as this broker knows them: read once, refreshed on notifications and every few
// seconds, so that hot calls never ask the database for settings.
//
// Calls keep what they get here until they are done: so the cache knows whether one is under way
// that knows an older version of a queue, which counts when it is deleted (ConfirmedDeletions).
// Who waits for long, and lets nothing in, keeps Detached() instead. Thread-safe.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/functional/any_invocable.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "server/base/mutex.h"
#include "server/broker/api/calls.h"
#include "server/broker/api/permit.h"
#include "server/broker/batch/context.h"
#include "server/broker/queues/new_queues.h"
#include "server/model/queue.h"

namespace skiplane::broker {

class QueueCache {
 public:
  // `on_change` is told of every queue that was learnt or changed, `on_gone` of those that do not
  // exist any more. They get it detached, and must not block.
  struct Listeners {
    std::function<void(QueuePtr)> on_change;
    std::function<void(QueuePtr)> on_gone = [](const QueuePtr&) {};
  };
  QueueCache(Context& context, bool create_missing, NewQueues& new_queues, Listeners listeners);

  using Queues = std::vector<QueuePtr>;

  struct Caller {
    const std::string& principal;  // makes those that are to be made; empty: nobody has to prove it
    const std::string& party;      // whose turn it takes to look for what is not known
  };

  // Calls `done` with the queues of these names, in order: at once when all are known, else from a
  // thread of the pool.
  // QUEUE_NOT_FOUND names the first one that does not exist, and blames
  // `field_of` its place. What `check` refuses is read again first: another broker may just have
  // changed it.
  void Find(const Caller& caller, std::vector<std::string> names,
            absl::AnyInvocable<std::string(size_t)> field_of,
            absl::AnyInvocable<absl::Status(const Queues&)> check,
            absl::AnyInvocable<void(absl::StatusOr<Queues>)> done);

  // One queue, from the database if it is not known. For code that runs on a session anyway, but
  // not within a transaction: a queue that is made here is known at once, and must not be undone.
  // `principal`: empty, if nobody knows for whom.
  absl::StatusOr<QueuePtr> Get(pg::Session& session, const std::string& name,
                               const std::string& principal = "");

  // The same for calls that only read: they make no queue. QUEUE_NOT_FOUND blames `field`.
  absl::StatusOr<QueuePtr> GetExisting(pg::Session& session, const std::string& name,
                                       absl::string_view field);

  // OK if `check` takes the queue: as it is known or, as another broker may just have changed it,
  // as it is read again. Where Get() may be called.
  absl::Status Check(pg::Session& session, QueuePtr* queue,
                     absl::FunctionRef<absl::Status(const model::Queue&)> check);

  // The number of a stage; unset for no name. INVALID_FIELD on `field` if the queue has no such
  // stage.
  absl::StatusOr<std::optional<int16_t>> StageOf(pg::Session& session, QueuePtr queue,
                                                 absl::string_view stage,
                                                 absl::string_view field);

  // The queue of a lane if it is known; else null.
  QueuePtr OfLane(int64_t lane) const;

  // The same, from the database if it is not known; null if no queue has this lane. A lane that
  // nobody has costs one index lookup. Also within transactions that change no queues.
  absl::StatusOr<QueuePtr> FindLane(pg::Session& session, int64_t lane);

  std::vector<QueuePtr> All() const;

  // What a list is of: the queue of this name, or, without one, all that `permit` lets through.
  // QUEUE_NOT_FOUND blames `queue`.
  absl::StatusOr<Queues> Visible(pg::Session& session, const std::string& name,
                                 const Permit& permit);

  // The same queue, for those who do not count as calls that are under way.
  static QueuePtr Detached(const QueuePtr& queue);

  // What is known counts until then, and is read anew for each call after that. A broker that is
  // not known to run is not asked before a queue is deleted.
  void BelieveUntil(base::SteadyTime until) { believed_until_ = until.time_since_epoch().count(); }
  bool IsBelieved() const;

  // OK if the queue is still there and open, after a time in which nothing was believed.
  absl::Status CheckStays(pg::Session& session, const model::Queue& queue);

  // Deletions after which nothing comes any more from calls of this broker: no call is under way
  // that got its queue as it was before.
  std::vector<model::SessionId> ConfirmedDeletions();

  // Reads a queue again, on the caller's session, after the commit of what changed it.
  absl::StatusOr<QueuePtr> Reload(pg::Session& session, const std::string& name);

  // Reads all queues again.
  absl::Status ReloadAll(pg::Session& session);

 private:
  absl::StatusOr<QueuePtr> ReloadOrCreate(pg::Session& session, const std::string& name,
                                          const std::string& principal);
  absl::StatusOr<Queues> GetAll(pg::Session& session, const std::string& principal,
                                const std::vector<std::string>& names,
                                absl::AnyInvocable<std::string(size_t)>& field_of);
  QueuePtr Known(const std::string& name) const;
  QueuePtr Learn(model::Queue queue);
  QueuePtr Latest(const std::string& name) const;
  void Forget(const QueuePtr& known);
  void Supersede(QueuePtr& known) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  Context& context_;
  const bool create_missing_;
  NewQueues& new_queues_;
  const Listeners listeners_;
  std::atomic<base::SteadyTime::rep> believed_until_ = 0;
  mutable base::Mutex mutex_;
  absl::flat_hash_map<std::string, QueuePtr> by_name_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<int64_t, QueuePtr> by_lane_ ABSL_GUARDED_BY(mutex_);
  // Older versions that calls may still have, by the queue's id.
  absl::flat_hash_map<int64_t, std::vector<std::weak_ptr<const model::Queue>>> superseded_
      ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_set<int64_t> gone_ ABSL_GUARDED_BY(mutex_);  // queues that were deleted
};

// What a Lease that names no duration gets: that of its first queue, or of the stage that it names
// there.
absl::Duration DefaultDuration(const LeaseCall& call, const model::Queue& first);

}  // namespace skiplane::broker
