#include "server/broker/operate/view_task.h"

#include "server/base/status_macros.h"
#include "server/store/task_view.h"

namespace skiplane::broker {

absl::StatusOr<model::TaskView> ViewTask(pg::Session& session, QueueCache& queues,
                                         const model::TaskId& id, bool with_payload) {
  ASSIGN_OR_RETURN(model::TaskView task, store::GetTask(session, id, with_payload));
  ASSIGN_OR_RETURN(const QueuePtr queue, queues.FindLane(session, id.lane));
  if (queue == nullptr) return store::TaskNotFound(id);  // its queue was deleted
  task.queue = queue->name;
  task.stage_name = queue->settings.StageName(task.stage);
  return task;
}

absl::Status AskFor(pg::Session& session, QueueCache& queues, const Permit& permit, int64_t lane) {
  if (permit == nullptr) return absl::OkStatus();
  ASSIGN_OR_RETURN(const QueuePtr queue, queues.FindLane(session, lane));
  return permit(queue == nullptr ? "" : queue->name);
}

}  // namespace skiplane::broker
