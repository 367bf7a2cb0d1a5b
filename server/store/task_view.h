// Tasks as operators see them.
#pragma once

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/model/lane_stage.h"
#include "server/model/report.h"
#include "server/model/task.h"
#include "server/pg/rows.h"
#include "server/pg/session.h"

namespace skiplane::store {

// Columns of a row: type, fingerprint and text of an error, no type standing for none; and progress
// as {"fraction": …, "message": …}.
std::optional<model::TaskError> ErrorIfAny(const pg::Rows& rows, int row, int first);
std::optional<model::TaskProgress> ProgressIfAny(const pg::Rows& rows, int row, int column);

// TASK_NOT_FOUND.
absl::Status TaskNotFound(const model::TaskId& id);

// Without the names of queue and stage. TASK_NOT_FOUND if nothing is known of it.
absl::StatusOr<model::TaskView> GetTask(pg::Session& session, const model::TaskId& id,
                                        bool with_payload = false);

// What tasks may weigh together.
struct Room {
  int64_t bytes = 0;
  bool takes_first = true;  // whatever it weighs
};

// The same of many tasks of a lane, ordered by id, while they fit; unknown ones are missing. The
// last error of finished tasks is missing.
absl::StatusOr<model::Page<model::TaskView>> GetTasks(pg::Session& session, int64_t lane,
                                                      absl::Span<const int64_t> ids,
                                                      bool with_payload, const Room& room);

// Finished attempts that ended before `before`, the latest first, as far as the history keeps them:
// at most `limit`, and as many as weigh `bytes_max`, but always one.
absl::StatusOr<model::Page<model::Attempt>> ListAttempts(pg::Session& session,
                                                         const model::TaskId& id,
                                                         absl::Time before, int limit,
                                                         int64_t bytes_max);

// How many living workers hold tasks of a lane at a stage. Of a lane with very many leases a part
// is looked at.
absl::StatusOr<int64_t> BusyWorkers(pg::Session& session, const model::LaneStage& lane_stage);

// How many tasks of its lane will be leased before a task that is ready: 10,001 stands for more.
absl::StatusOr<int64_t> TasksAhead(pg::Session& session, const model::TaskView& task);

}  // namespace skiplane::store
