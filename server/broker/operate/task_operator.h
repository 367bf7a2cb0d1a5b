// Tasks one by one, for operators: found, explained, changed. All methods run on a session of the
// pool. Thread-safe.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/broker/api/operator_calls.h"
#include "server/broker/lease/dispatcher.h"
#include "server/broker/queues/queue_cache.h"
#include "server/store/task_change.h"

namespace skiplane::broker {

class TaskOperator {
 public:
  // Told of tasks that can be leased after a change, before its caller is.
  using OnCommit = std::function<void(const std::vector<store::UnleasedTasks>&, absl::Time now)>;

  TaskOperator(Context& context, QueueCache& queues, const Dispatcher& dispatcher,
               OnCommit on_commit)
      : context_(context),
        queues_(queues),
        dispatcher_(dispatcher),
        on_commit_(std::move(on_commit)) {}

  // Which task the call means: that of its id, or the one that holds its key.
  absl::StatusOr<model::TaskId> Find(pg::Session& session, const GetTaskCall& call);
  absl::StatusOr<TaskDetails> Get(pg::Session& session, const GetTaskCall& call,
                                  const model::TaskId& id);
  absl::StatusOr<Explanation> Explain(pg::Session& session, const ExplainTaskCall& call);
  absl::StatusOr<model::TaskView> Change(pg::Session& session, const ChangeTaskCall& call);
  // Adds the next times to `times`, as many as take a turn, and leaves in `rest` what then is still
  // asked for: nothing, when its count is 0.
  absl::Status Preview(pg::Session& session, PreviewCall* rest, std::vector<absl::Time>* times);

 private:
  // In a transaction: makes the change and returns the task as it then is.
  absl::StatusOr<model::TaskView> Apply(pg::Session& session, const ChangeTaskCall& call,
                                        store::Changes* changes);
  // The answer to a repeat: the task as it is now, or its id, queue and state as the first call
  // left it.
  absl::StatusOr<model::TaskView> Recall(pg::Session& session, const ChangeTaskCall& call,
                                         const std::string& outcome);
  // Also of a task of which only its key tells, as its queue keeps no history of it.
  absl::StatusOr<model::TaskView> ViewOfKey(pg::Session& session, const GetTaskCall& call,
                                            const model::TaskId& id);
  Context& context_;
  QueueCache& queues_;
  const Dispatcher& dispatcher_;
  const OnCommit on_commit_;
};

}  // namespace skiplane::broker
