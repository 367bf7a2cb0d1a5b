#include "server/store/task_view.h"

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "server/base/reason.h"
#include "server/base/status_macros.h"
#include "server/sql/queries.h"

namespace skiplane::store {
namespace {

constexpr int64_t kWaiting = 1;

std::optional<absl::Time> TimeIfAny(const pg::Rows& rows, int column) {
  if (rows.IsNull(0, column)) return std::nullopt;
  return rows.Micros(0, column);
}

std::optional<model::TaskError> ErrorIfAny(const pg::Rows& rows, int first) {
  if (rows.IsNull(0, first)) return std::nullopt;
  return model::TaskError{std::string(rows.Text(0, first)), rows.Bytea(0, first + 2),
                          std::string(rows.Text(0, first + 1))};
}

std::optional<model::TaskProgress> ProgressIfAny(const pg::Rows& rows, int column) {
  if (rows.IsNull(0, column)) return std::nullopt;
  const absl::string_view text = rows.Text(0, column);
  const nlohmann::json json = nlohmann::json::parse(text.begin(), text.end(), nullptr, false);
  if (!json.is_object()) return std::nullopt;
  return model::TaskProgress{json.value("fraction", 0.0), json.value("message", std::string())};
}

}  // namespace

absl::StatusOr<model::TaskView> GetTask(pg::Session& session, const model::TaskId& id) {
  const auto params = [&id] { return pg::Params().Int8(id.lane).Int8(id.id); };
  ASSIGN_OR_RETURN(const pg::Rows rows, session.Run(sql::kTaskGet, params()));
  if (rows.empty()) {
    return base::Refuse(absl::StatusCode::kNotFound, "TASK_NOT_FOUND",
                        absl::StrCat("task ", model::FormatTaskId(id),
                                     " is not known, or no longer: finished tasks are known while "
                                     "their history is kept"));
  }
  model::TaskView task;
  task.id = id;
  task.key = std::string(rows.Text(0, 1));
  task.priority = static_cast<int16_t>(rows.Int(0, 2));
  task.attempt = static_cast<int32_t>(rows.Int(0, 3));
  task.max_attempts = static_cast<int32_t>(rows.Int(0, 4));
  task.create_time = rows.Micros(0, 5);
  task.schedule_time = rows.Micros(0, 6);
  task.lease_time = TimeIfAny(rows, 7);
  task.end_time = TimeIfAny(rows, 8);
  task.last_error = ErrorIfAny(rows, 10);
  task.worker_name = std::string(rows.Text(0, 13));
  task.progress = ProgressIfAny(rows, 14);
  switch (rows.Int(0, 0)) {
    case kWaiting:
      task.state = task.schedule_time > rows.Micros(0, 9) ? model::TaskState::kScheduled
                                                          : model::TaskState::kReady;
      break;
    case 2:
      task.state = model::TaskState::kLeased;
      break;
    default:
      task.state = static_cast<model::TaskState>(rows.Int(0, 0));
  }
  if (!task.last_error.has_value() && task.end_time.has_value()) {
    ASSIGN_OR_RETURN(const pg::Rows error, session.Run(sql::kErrorLast, params()));
    if (!error.empty()) task.last_error = ErrorIfAny(error, 0);
  }
  return task;
}

}  // namespace skiplane::store
