#include "server/store/task_change.h"

#include <algorithm>

#include "server/base/reason.h"
#include "server/base/status_macros.h"
#include "server/sql/queries.h"
#include "server/store/pack.h"
#include "server/store/texts.h"

namespace skiplane::store {
namespace {

// As the three statements have it.
int32_t StateBits(TaskTable table, const model::TaskStates& states) {
  if (table == TaskTable::kLiving) {
    return (states.ready ? 1 : 0) | (states.scheduled ? 2 : 0) | (states.leased ? 4 : 0);
  }
  return (states.succeeded ? 1 : 0) | (states.cancelled ? 2 : 0);
}

const sql::Query& StatementOf(TaskTable table) {
  switch (table) {
    case TaskTable::kLiving:
      return sql::kTaskFilter;
    case TaskTable::kFailed:
      return sql::kFailedFilter;
    case TaskTable::kFinished:
      break;
  }
  return sql::kFinishedFilter;
}

std::optional<int64_t> MicrosIfAny(const std::optional<absl::Duration>& duration) {
  if (!duration.has_value()) return std::nullopt;
  return absl::ToInt64Microseconds(*duration);
}

std::optional<int64_t> MicrosIfAny(const std::optional<absl::Time>& time) {
  if (!time.has_value()) return std::nullopt;
  return absl::ToUnixMicros(*time);
}

std::vector<int64_t> IdsOf(const model::TaskFilter& filter, int64_t lane) {
  std::vector<int64_t> ids;
  for (const model::TaskId& id : filter.ids) {
    if (id.lane == lane) ids.push_back(id.id);
  }
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

// A single value, or null, as an array of one: parameters by themselves are never null.
void BindFilter(const model::TaskFilter& filter, std::optional<int16_t> stage, int32_t states,
                pg::Params& params) {
  const std::string headers = filter.headers.empty() ? "" : HeadersToJson(filter.headers);
  const std::optional<absl::string_view> texts[] = {IfAny(filter.key_prefix), IfAny(headers),
                                                    IfAny(filter.fingerprint),
                                                    IfAny(filter.error_type),
                                                    IfAny(filter.payload_text)};
  const std::optional<int64_t> numbers[] = {MicrosIfAny(filter.min_age),
                                            MicrosIfAny(filter.max_age), filter.min_attempts,
                                            MicrosIfAny(filter.start), MicrosIfAny(filter.end)};
  params.OptionalInt2Array({stage}).Int4(states);
  params.OptionalTextArray(texts).OptionalInt8Array(numbers);
  params.OptionalInt2Array({filter.priority, filter.periodic});
}

Changes ReadChanges(const pg::Rows& rows, int64_t lane, model::TaskChange::Kind kind) {
  constexpr int64_t kEnded = 2;
  const bool is_cancel = kind == model::TaskChange::Kind::kCancel;
  Changes changes;
  changes.lane = lane;
  for (int row = 0; row < rows.size(); ++row) {
    Changed& changed = changes.tasks.emplace_back();
    changed.id = rows.Int(row, 0);
    changes.now = rows.Micros(row, 6);
    if (rows.Int(row, 1) == kEnded) changes.ended.push_back(changed.id);
    if (is_cancel && rows.Int(row, 1) == kEnded) ++changes.cancelled;
    if (rows.IsNull(row, 5)) continue;
    changed.unleased = {lane,
                        static_cast<int16_t>(rows.Int(row, 3)),
                        static_cast<int16_t>(rows.Int(row, 2)),
                        rows.Bool(row, 4),
                        1,
                        rows.Micros(row, 5)};
  }
  return changes;
}

absl::Status Conflict() {
  return base::Refuse(absl::StatusCode::kAborted, "TRANSACTION_CONFLICT",
                      "a failed task went during the call: call again");
}

}  // namespace

std::vector<UnleasedTasks> UnleasedOf(const Changes& changes) {
  std::vector<UnleasedTasks> unleased;
  for (const Changed& changed : changes.tasks) {
    if (changed.unleased.count > 0) unleased.push_back(changed.unleased);
  }
  return unleased;
}

std::vector<TaskTable> TablesOf(const model::TaskStates& states) {
  std::vector<TaskTable> tables;
  if (StateBits(TaskTable::kLiving, states) != 0) tables.push_back(TaskTable::kLiving);
  if (states.failed) tables.push_back(TaskTable::kFailed);
  if (StateBits(TaskTable::kFinished, states) != 0) tables.push_back(TaskTable::kFinished);
  return tables;
}

absl::StatusOr<Matches> FindTasks(pg::Session& session, const Step& step,
                                  const model::TaskFilter& filter, std::optional<int16_t> stage) {
  pg::Params params;
  params.Int8(step.lane).Int8(step.after).Int4(step.rows).Int4(step.matches);
  BindFilter(filter, stage, StateBits(step.table, filter.states), params);
  const std::vector<int64_t> ids = IdsOf(filter, step.lane);
  if (!filter.ids.empty() && ids.empty()) return Matches{};
  params.Int8Array(ids).Bool(step.newest_first);
  ASSIGN_OR_RETURN(const pg::Rows rows, session.Run(StatementOf(step.table), params));
  Matches matches;
  for (int row = 0; row < rows.size(); ++row) {
    if (rows.IsNull(row, 0)) {
      matches.ids.push_back(rows.Int(row, 1));
      continue;
    }
    matches.scanned = rows.Int(row, 0);
    if (!rows.IsNull(row, 1)) matches.next_after = rows.Int(row, 1);
  }
  return matches;
}

absl::StatusOr<Changes> ChangeTasks(pg::Session& session, TaskTable table, int64_t lane,
                                    absl::Span<const int64_t> ids, const model::TaskChange& change,
                                    const model::QueueSettings& settings) {
  if (table == TaskTable::kLiving) RETURN_IF_ERROR(Unpack(session, lane, ids));
  pg::Params params;
  params.Int8(lane).Int8Array(ids).Int2(static_cast<int16_t>(change.kind));
  if (table == TaskTable::kFailed) {
    std::vector<int32_t> max_attempts;
    for (int16_t stage = 0; stage < settings.StageCount(); ++stage) {
      max_attempts.push_back(settings.stages.empty() ? 0 : settings.RetryOf(stage).max_attempts);
    }
    params.Int4Array(max_attempts);
    ASSIGN_OR_RETURN(const pg::Rows rows, session.Run(sql::kFailedChange, params));
    for (int row = 0; row < rows.size(); ++row) {
      if (rows.IsNull(row, 0)) return Conflict();
    }
    return ReadChanges(rows, lane, change.kind);
  }
  params.Int2(change.priority).Timestamp(change.schedule_time);
  params.Int8(absl::ToInt64Microseconds(change.postpone));
  params.Int2(static_cast<int16_t>(settings.history)).Int4(settings.history_days);
  ASSIGN_OR_RETURN(const pg::Rows rows, session.Run(sql::kTaskChange, params));
  return ReadChanges(rows, lane, change.kind);
}

absl::Status ReplaceContent(pg::Session& session, const model::TaskId& id,
                            const model::TaskContent& content) {
  const std::string headers = content.headers.empty() ? "" : HeadersToJson(content.headers);
  const std::optional<absl::string_view> texts[] = {IfAny(content.content_type), IfAny(headers)};
  pg::Params params;
  params.Int8(id.lane).Int8(id.id).Bytea(content.payload).OptionalTextArray(texts);
  return session.Run(sql::kTaskEdit, params).status();
}

absl::Status AddAudit(pg::Session& session, const model::Origin& origin, const std::string& queue,
                      int64_t changed) {
  pg::Params params;
  params.Text(origin.actor).Text(origin.method).Text(queue);
  params.Text(origin.request_json.empty() ? "{}" : origin.request_json);
  params.Int8(changed).Text(origin.caller).Text(origin.claimed_actor);
  return session.Run(sql::kAuditAdd, params).status();
}

absl::StatusOr<AuditPage> ListAudit(pg::Session& session, const AuditFilter& filter, int64_t before,
                                    int limit, int64_t bytes_max) {
  constexpr int kLookedAt = 20000;
  pg::Params params;
  params.Text(filter.queue).Int8(before).Int4(limit).Int8(bytes_max).Int4(kLookedAt);
  params.Text(filter.task_id).Text(filter.actor).Timestamp(filter.start).Timestamp(filter.end);
  ASSIGN_OR_RETURN(const pg::Rows rows, session.Run(sql::kAuditList, params));
  AuditPage page;
  for (int row = 0; row < rows.size(); ++row) {
    if (rows.IsNull(row, 1)) {
      page.before = rows.Int(row, 0);
      page.records.has_more = true;
      break;
    }
    model::AuditRecord& record = page.records.items.emplace_back();
    record.id = rows.Int(row, 0);
    record.create_time = rows.Micros(row, 1);
    record.origin = {std::string(rows.Text(row, 2)), std::string(rows.Text(row, 3)),
                     std::string(rows.Text(row, 5)), std::string(rows.Text(row, 9)),
                     std::string(rows.Text(row, 8))};
    record.queue = std::string(rows.Text(row, 4));
    record.changed = rows.Int(row, 6);
    page.records.bytes = rows.Int(row, 7);
  }
  return page;
}

}  // namespace skiplane::store
