// Tasks made like others: copies, and moves, which remove the other one in the same transaction.
// Runs on a session of the pool. Thread-safe.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "server/broker/api/operator_calls.h"
#include "server/broker/batch/context.h"
#include "server/broker/enqueue/enqueuer.h"
#include "server/broker/queues/queue_cache.h"
#include "server/pg/session.h"

namespace skiplane::broker {

class TaskCopier {
 public:
  TaskCopier(Context& context, QueueCache& queues, Enqueuer& enqueuer)
      : context_(context), queues_(queues), enqueuer_(enqueuer) {}

  // The new task, also where the call repeats one that made it.
  absl::StatusOr<model::TaskView> Copy(pg::Session& session, const CopyTaskCall& call);

 private:
  struct Copied {
    std::unique_ptr<PendingEnqueue> pending;
    Enqueuer::Uncommitted written;
    model::TaskId id{};
  };

  // In a transaction, as the others.
  absl::Status Write(pg::Session& session, const CopyTaskCall& call, Copied* copied);
  // The other task, as it stays until the end of the transaction if it is to be removed.
  absl::StatusOr<model::TaskView> Read(pg::Session& session, const CopyTaskCall& call);
  absl::StatusOr<model::NewTask> Draft(pg::Session& session, const CopyTaskCall& call,
                                       const model::TaskView& task);
  absl::Status Remove(pg::Session& session, const model::TaskView& task);
  // After the commit: the new task as it is, or what is known of it if it has gone since.
  absl::StatusOr<model::TaskView> View(pg::Session& session, const model::TaskId& id);

  Context& context_;
  QueueCache& queues_;
  Enqueuer& enqueuer_;
};

}  // namespace skiplane::broker
