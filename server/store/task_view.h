// One task as operators see it, wherever it is.
#pragma once

#include "absl/status/statusor.h"
#include "server/model/task.h"
#include "server/pg/session.h"

namespace skiplane::store {

// Without the queue's name. TASK_NOT_FOUND if nothing is known of it.
absl::StatusOr<model::TaskView> GetTask(pg::Session& session, const model::TaskId& id);

}  // namespace skiplane::store
