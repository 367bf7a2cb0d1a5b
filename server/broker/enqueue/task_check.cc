#include "server/broker/enqueue/task_check.h"

#include "absl/strings/str_cat.h"
#include "server/base/reason.h"
#include "server/store/queues.h"

namespace skiplane::broker {

absl::Status CheckTask(const model::Queue& queue, const model::NewTask& task) {
  const auto limit = static_cast<size_t>(queue.settings.max_payload_bytes);
  if (task.payload.size() > limit) {
    return base::InvalidField(
        "payload", absl::StrCat("is larger than the queue's limit of ", limit, " bytes"));
  }
  if (!task.stage.empty() && !queue.settings.FindStage(task.stage).has_value()) {
    return base::InvalidField("stage",
                              absl::StrCat("is not a stage of queue \"", queue.name, "\""));
  }
  return absl::OkStatus();
}

absl::Status CheckOpen(const model::Queue& queue) {
  if (queue.IsDeleting()) return store::QueueDeleting(queue.name);
  if (!queue.EnqueuesPaused()) return absl::OkStatus();
  return base::Refuse(
      absl::StatusCode::kFailedPrecondition, "QUEUE_PAUSED",
      absl::StrCat("enqueues to \"", queue.name, "\" are paused: retry after it was resumed"));
}

absl::Status BlameClosed(absl::string_view field, const absl::Status& closed) {
  return base::BlameField("QUEUE_PAUSED", field, base::BlameField("QUEUE_DELETING", field, closed));
}

}  // namespace skiplane::broker
