// One task as operators see it, with the names of its queue and stage. Thread-safe.
#pragma once

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/broker/api/permit.h"
#include "server/broker/queues/queue_cache.h"
#include "server/model/task.h"
#include "server/pg/session.h"

namespace skiplane::broker {

// TASK_NOT_FOUND if nothing is known of it.
absl::StatusOr<model::TaskView> ViewTask(pg::Session& session, QueueCache& queues,
                                         const model::TaskId& id, bool with_payload);

// What `permit` says of the queue of a lane.
absl::Status AskFor(pg::Session& session, QueueCache& queues, const Permit& permit, int64_t lane);

}  // namespace skiplane::broker
