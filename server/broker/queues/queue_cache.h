// The queues as this broker knows them: read once, refreshed on notifications and every few
// seconds, so that hot calls never ask the database for settings. Thread-safe.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
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
  // `on_change` is told of every queue that was learnt or changed, and must not block.
  QueueCache(Context& context, bool create_missing, NewQueues& new_queues,
             std::function<void(QueuePtr)> on_change);

  using Queues = std::vector<QueuePtr>;

  // Calls `done` with the queues of these names, in order: at once when all are known, else from a
  // thread of the pool. `principal`: who calls, and makes those that are to be made.
  // QUEUE_NOT_FOUND names the first one that does not exist, and blames
  // `field_of` its place. What `check` refuses is read again first: another broker may just have
  // changed it.
  void Find(const std::string& principal, std::vector<std::string> names,
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

  Context& context_;
  const bool create_missing_;
  NewQueues& new_queues_;
  const std::function<void(QueuePtr)> on_change_;
  mutable base::Mutex mutex_;
  absl::flat_hash_map<std::string, QueuePtr> by_name_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<int64_t, QueuePtr> by_lane_ ABSL_GUARDED_BY(mutex_);
};

// What a Lease that names no duration gets: that of its first queue, or of the stage that it names
// there.
absl::Duration DefaultDuration(const LeaseCall& call, const model::Queue& first);

}  // namespace skiplane::broker
