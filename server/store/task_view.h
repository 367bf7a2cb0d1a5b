// Tasks as operators see them.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/model/report.h"
#include "server/model/task.h"
#include "server/pg/session.h"

namespace skiplane::store {

// Without the names of queue and stage. TASK_NOT_FOUND if nothing is known of it.
absl::StatusOr<model::TaskView> GetTask(pg::Session& session, const model::TaskId& id,
                                        bool with_payload = false);

// The same of many tasks of a lane, ordered by id; unknown ones are missing. The last error of
// finished tasks is missing.
absl::StatusOr<std::vector<model::TaskView>> GetTasks(pg::Session& session, int64_t lane,
                                                      absl::Span<const int64_t> ids,
                                                      bool with_payload);

// Finished attempts, the latest first, as far as the history keeps them.
absl::StatusOr<std::vector<model::Attempt>> ListAttempts(pg::Session& session,
                                                         const model::TaskId& id, int limit);

// How many tasks of its lane will be leased before a task that is ready: 10,001 stands for more.
absl::StatusOr<int64_t> TasksAhead(pg::Session& session, const model::TaskView& task);

}  // namespace skiplane::store
