#include "server/store/task_view.h"

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "server/base/reason.h"
#include "server/base/status_macros.h"
#include "server/sql/queries.h"
#include "server/store/texts.h"

namespace skiplane::store {
namespace {

constexpr int64_t kWaiting = 1;
constexpr int64_t kLeased = 2;

std::optional<absl::Time> TimeIfAny(const pg::Rows& rows, int row, int column) {
  if (rows.IsNull(row, column)) return std::nullopt;
  return rows.Micros(row, column);
}

// Period, cron, time zone, planned, missed times are run, paused.
std::optional<model::Recurrence> RecurrenceIfAny(const pg::Rows& rows, int row, int first) {
  if (rows.IsNull(row, first + 3)) return std::nullopt;
  model::Recurrence recurrence;
  if (!rows.IsNull(row, first)) recurrence.period = absl::Microseconds(rows.Int(row, first));
  recurrence.cron = std::string(rows.Text(row, first + 1));
  recurrence.time_zone = std::string(rows.Text(row, first + 2));
  recurrence.planned_time = rows.Micros(row, first + 3);
  recurrence.run_all = !rows.IsNull(row, first + 4) && rows.Bool(row, first + 4);
  recurrence.is_paused = !rows.IsNull(row, first + 5) && rows.Bool(row, first + 5);
  return recurrence;
}

model::TaskState StateOf(int64_t state, absl::Time schedule_time, absl::Time now) {
  if (state == kLeased) return model::TaskState::kLeased;
  if (state != kWaiting) return static_cast<model::TaskState>(state);
  return schedule_time > now ? model::TaskState::kScheduled : model::TaskState::kReady;
}

model::TaskView ReadView(const pg::Rows& rows, int row, int64_t lane) {
  model::TaskView task;
  task.id = {lane, rows.Int(row, 0)};
  task.key = std::string(rows.Text(row, 2));
  task.priority = static_cast<int16_t>(rows.Int(row, 3));
  task.attempt = static_cast<int32_t>(rows.Int(row, 4));
  task.max_attempts = static_cast<int32_t>(rows.Int(row, 5));
  task.create_time = rows.Micros(row, 6);
  task.schedule_time = TimeIfAny(rows, row, 7).value_or(absl::InfiniteFuture());
  task.lease_time = TimeIfAny(rows, row, 8);
  task.end_time = TimeIfAny(rows, row, 9);
  task.state = StateOf(rows.Int(row, 1), task.schedule_time, rows.Micros(row, 10));
  task.last_error = ErrorIfAny(rows, row, 11);
  task.worker_name = std::string(rows.Text(row, 14));
  task.worker_handle = std::string(rows.Text(row, 15));
  task.progress = ProgressIfAny(rows, row, 16);
  task.last_progress = ProgressIfAny(rows, row, 17);
  task.stage = static_cast<int16_t>(rows.Int(row, 18));
  if (!rows.IsNull(row, 19)) task.version = rows.Int(row, 19);
  task.recurrence = RecurrenceIfAny(rows, row, 20);
  task.rerun_pending = !rows.IsNull(row, 26) && rows.Bool(row, 26);
  task.cancel_requested = !rows.IsNull(row, 27) && rows.Bool(row, 27);
  if (!rows.IsNull(row, 33)) task.result = rows.Bytea(row, 33);
  if (rows.IsNull(row, 28)) return task;
  task.has_payload = true;
  task.payload = rows.Bytea(row, 28);
  task.content_type = std::string(rows.Text(row, 29));
  if (!rows.IsNull(row, 30)) task.headers = HeadersFromJson(rows.Text(row, 30));
  return task;
}

}  // namespace

std::optional<model::TaskError> ErrorIfAny(const pg::Rows& rows, int row, int first) {
  if (rows.IsNull(row, first)) return std::nullopt;
  return model::TaskError{std::string(rows.Text(row, first)), rows.Bytea(row, first + 2),
                          std::string(rows.Text(row, first + 1))};
}

std::optional<model::TaskProgress> ProgressIfAny(const pg::Rows& rows, int row, int column) {
  if (rows.IsNull(row, column)) return std::nullopt;
  const absl::string_view text = rows.Text(row, column);
  const nlohmann::json json = nlohmann::json::parse(text.begin(), text.end(), nullptr, false);
  if (!json.is_object()) return std::nullopt;
  return model::TaskProgress{json.value("fraction", 0.0), json.value("message", std::string())};
}

absl::StatusOr<model::Page<model::TaskView>> GetTasks(pg::Session& session, int64_t lane,
                                                      absl::Span<const int64_t> ids,
                                                      bool with_payload, const Room& room) {
  pg::Params params;
  params.Int8(lane).Int8Array(ids).Bool(with_payload).Int8(room.bytes).Bool(room.takes_first);
  ASSIGN_OR_RETURN(const pg::Rows rows, session.Run(sql::kTaskGet, params));
  model::Page<model::TaskView> page;
  for (int row = 0; row < rows.size(); ++row) page.items.push_back(ReadView(rows, row, lane));
  if (rows.empty()) {
    page.has_more = !room.takes_first && !ids.empty();  // perhaps the first one did not fit
    return page;
  }
  page.bytes = rows.Int(rows.size() - 1, 31);
  page.has_more = rows.Bool(rows.size() - 1, 32);
  return page;
}

absl::Status TaskNotFound(const model::TaskId& id) {
  return base::Refuse(absl::StatusCode::kNotFound, "TASK_NOT_FOUND",
                      absl::StrCat("task ", model::FormatTaskId(id),
                                   " is not known, or no longer: finished tasks are known while "
                                   "their history is kept"));
}

absl::StatusOr<model::TaskView> GetTask(pg::Session& session, const model::TaskId& id,
                                        bool with_payload) {
  ASSIGN_OR_RETURN(model::Page<model::TaskView> tasks,
                   GetTasks(session, id.lane, {id.id}, with_payload, Room()));
  if (tasks.items.empty()) return TaskNotFound(id);
  model::TaskView task = std::move(tasks.items.front());
  if (!task.last_error.has_value() && task.end_time.has_value()) {
    const pg::Params params =
        pg::Params().Int8(id.lane).Int8(id.id).Timestamp(task.create_time);
    ASSIGN_OR_RETURN(const pg::Rows error, session.Run(sql::kErrorLast, params));
    if (!error.empty()) task.last_error = ErrorIfAny(error, 0, 0);
  }
  return task;
}

absl::StatusOr<model::Page<model::Attempt>> ListAttempts(pg::Session& session,
                                                         const model::TaskId& id,
                                                         absl::Time before, int limit,
                                                         int64_t bytes_max) {
  pg::Params params;
  params.Int8(id.lane).Int8(id.id).Timestamp(before).Int4(limit).Int8(bytes_max);
  ASSIGN_OR_RETURN(const pg::Rows rows, session.Run(sql::kAttemptList, params));
  model::Page<model::Attempt> page;
  for (int row = 0; row < rows.size(); ++row) {
    model::Attempt& attempt = page.items.emplace_back();
    attempt.attempt = static_cast<int32_t>(rows.Int(row, 0));
    attempt.outcome = static_cast<model::AttemptOutcome>(rows.Int(row, 1));
    attempt.stage = static_cast<int16_t>(rows.Int(row, 2));
    attempt.schedule_time = rows.Micros(row, 3);
    attempt.lease_time = TimeIfAny(rows, row, 4);
    attempt.end_time = rows.Micros(row, 5);
    attempt.worker_name = std::string(rows.Text(row, 6));
    attempt.error = ErrorIfAny(rows, row, 7);
    attempt.ends_task = rows.Bool(row, 10);
    if (!rows.IsNull(row, 11)) attempt.payload = rows.Bytea(row, 11);
    if (!rows.IsNull(row, 12)) attempt.result = rows.Bytea(row, 12);
    page.bytes = rows.Int(row, 13);
    page.has_more = rows.Bool(row, 14);
  }
  return page;
}

absl::StatusOr<int64_t> BusyWorkers(pg::Session& session, const model::LaneStage& lane_stage) {
  const pg::Params params = pg::Params().Int8(lane_stage.lane).Int2(lane_stage.stage);
  ASSIGN_OR_RETURN(const pg::Rows rows, session.Run(sql::kWorkerBusy, params));
  return rows.Int(0, 0);
}

absl::StatusOr<int64_t> TasksAhead(pg::Session& session, const model::TaskView& task) {
  pg::Params params;
  params.Int8(task.id.lane).Int2(task.stage).Int2(task.priority).Timestamp(task.schedule_time);
  params.Int8(task.id.id);
  ASSIGN_OR_RETURN(const pg::Rows rows, session.Run(sql::kTaskAhead, params));
  return rows.Int(0, 0);
}

}  // namespace skiplane::store
