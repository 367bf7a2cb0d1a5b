#include "server/store/enqueue.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "server/base/status_macros.h"
#include "server/model/request_key.h"
#include "server/sql/queries.h"
#include "server/store/texts.h"

namespace skiplane::store {
namespace {

// The arrays of task_enqueue, one element per task. Texts point into the tasks.
struct TaskColumns {
  std::vector<int64_t> lanes, ids, delays;
  std::vector<std::optional<absl::Time>> starts;
  std::vector<int32_t> max_attempts;
  std::vector<int16_t> priorities;
  std::vector<std::optional<absl::string_view>> content_types, keys;
  HeadersColumn headers;
  std::vector<absl::string_view> payloads;
  // Of task_enqueue_once only.
  std::vector<int64_t> calls;
  std::vector<int16_t> policies, stages;
  std::vector<std::optional<int64_t>> versions, periods;
  std::vector<std::optional<absl::string_view>> crons, time_zones;
  std::vector<int16_t> catch_ups;

  explicit TaskColumns(absl::Span<const TaskRow> rows) {
    for (const TaskRow& row : rows) Add(row);
  }

  void Add(const TaskRow& row) {
    const model::NewTask& task = *row.task;
    lanes.push_back(row.id.lane);
    ids.push_back(row.id.id);
    starts.push_back(task.schedule_time);
    delays.push_back(absl::ToInt64Microseconds(task.delay.value_or(absl::ZeroDuration())));
    max_attempts.push_back(row.max_attempts);
    priorities.push_back(task.priority);
    content_types.push_back(IfAny(task.content_type));
    keys.push_back(IfAny(task.key));
    payloads.push_back(task.payload);
    headers.Add(task.headers);
  }

  void AddRest(absl::Span<const TaskRow> rows) {
    for (const TaskRow& row : rows) {
      const model::NewTask& task = *row.task;
      calls.push_back(row.call);
      policies.push_back(static_cast<int16_t>(task.key_policy));
      stages.push_back(row.stage);
      versions.push_back(task.version > 0 ? std::optional<int64_t>(task.version) : std::nullopt);
      periods.emplace_back();
      if (task.period) periods.back() = absl::ToInt64Microseconds(*task.period);
      crons.push_back(IfAny(task.cron));
      time_zones.push_back(IfAny(task.time_zone));
      catch_ups.push_back(task.run_all ? 2 : 1);
    }
  }

  pg::Params Bind() const {
    pg::Params params;
    params.Int8Array(lanes).Int8Array(ids).TimestampArray(starts).Int8Array(delays);
    params.Int4Array(max_attempts).Int2Array(priorities).OptionalTextArray(content_types);
    params.OptionalTextArray(headers.views).ByteaArray(payloads);
    return params;
  }

  void BindRest(pg::Params& params) const {
    params.OptionalTextArray(keys).Int8Array(calls).Int2Array(policies);
    params.OptionalInt8Array(versions).Int2Array(stages).OptionalInt8Array(periods);
    params.OptionalTextArray(crons).OptionalTextArray(time_zones).Int2Array(catch_ups);
  }
};

void BindNoRequests(pg::Params& params) {
  params.Int8Array({}).TextArray({}).ByteaArray({}).Int8Array({});
}

model::TaskState StateAfter(model::EnqueueOutcome change, bool is_ready) {
  if (change == model::EnqueueOutcome::kRerun) return model::TaskState::kLeased;
  return is_ready ? model::TaskState::kReady : model::TaskState::kScheduled;
}

// Rows of task_enqueue_once, gathered as task_enqueue gathers them in the database.
absl::StatusOr<Enqueued> Gather(const pg::Rows& rows) {
  Enqueued result;
  std::map<std::tuple<int64_t, int16_t, int16_t, bool>, UnleasedTasks> groups;
  for (int row = 0; row < rows.size(); ++row) {
    if (rows.IsNull(row, 5)) return absl::AlreadyExistsError("a key exists");  // outcome 6
    result.now = rows.Micros(row, 5);
    if (rows.IsNull(row, 0)) {
      result.began = rows.Micros(row, 4);
      continue;
    }
    const int64_t lane = rows.Int(row, 1);
    const auto outcome = static_cast<model::EnqueueOutcome>(rows.Int(row, 7));
    if (outcome == model::EnqueueOutcome::kExisting) {
      if (result.changed.contains(rows.Int(row, 6))) continue;
      const auto state = static_cast<model::TaskState>(rows.Int(row, 9));
      result.existing[rows.Int(row, 6)] = {{lane, rows.Int(row, 0)}, outcome, state};
      continue;
    }
    const auto priority = static_cast<int16_t>(rows.Int(row, 2));
    const bool is_ready = rows.Bool(row, 3);
    const auto stage = static_cast<int16_t>(rows.Int(row, 8));
    if (outcome == model::EnqueueOutcome::kCreated) {
      result.made.insert(rows.Int(row, 0));
    } else {
      result.changed[rows.Int(row, 6)] = {
          {lane, rows.Int(row, 0)}, outcome,
          rows.IsNull(row, 9) ? StateAfter(outcome, is_ready)
                              : static_cast<model::TaskState>(rows.Int(row, 9))};
    }
    // It runs already, or is paused.
    if (outcome == model::EnqueueOutcome::kRerun || rows.IsNull(row, 4)) continue;
    const absl::Time schedule_time = rows.Micros(row, 4);
    UnleasedTasks& group = groups[{lane, stage, priority, is_ready}];
    if (group.count++ == 0) group = {lane, stage, priority, is_ready, 1, schedule_time};
    group.schedule_time = std::min(group.schedule_time, schedule_time);
  }
  for (const auto& [key, group] : groups) result.unleased.push_back(group);
  return result;
}

// A row of task_enqueue.
void AddUnleased(const pg::Rows& rows, int row, Enqueued& result) {
  result.unleased.push_back({rows.Int(row, 0), 0, static_cast<int16_t>(rows.Int(row, 1)),
                             rows.Bool(row, 2), rows.Int(row, 3), rows.Micros(row, 4)});
  result.now = rows.Micros(row, 5);
}

// A row of task_enqueue_leased: the task as task_lease would return it.
void AddLeased(const pg::Rows& rows, int row, absl::Span<const TaskRow> tasks,
               const absl::flat_hash_map<int64_t, size_t>& places, const HandOff& hand_off,
               Enqueued& result) {
  const size_t place = places.at(rows.Int(row, 3));
  const TaskRow& made = tasks[place];
  LeasedRow& leased = result.leased.emplace_back();
  leased.caller = hand_off.takers[place] - 1;
  model::LeasedTask& task = leased.task;
  const pg::Tid location = rows.TidValue(row, 7);
  task.token = {.task = made.id,
                .lease_number = rows.Int(row, 6),
                .session = hand_off.callers[static_cast<size_t>(leased.caller)].session,
                .attempt = 1,
                .block = location.block,
                .offset = location.offset};
  task.payload = made.task->payload;
  task.content_type = made.task->content_type;
  task.headers = made.task->headers;
  task.priority = made.task->priority;
  task.max_attempts = made.max_attempts;
  task.create_time = task.schedule_time = rows.Micros(row, 4);
}

absl::flat_hash_map<int64_t, size_t> PlacesOf(absl::Span<const TaskRow> tasks,
                                              const HandOff* hand_off) {
  absl::flat_hash_map<int64_t, size_t> places;
  if (hand_off == nullptr) return places;
  for (size_t i = 0; i < tasks.size(); ++i) {
    if (hand_off->takers[i] > 0) places[tasks[i].id.id] = i;
  }
  return places;
}

}  // namespace

void BindRequests(absl::Span<const RequestRow> requests, pg::Params& params) {
  std::vector<int64_t> heads, body_hashes, first_ids, lanes;
  std::vector<pg::Uuid> hashes;
  std::vector<absl::string_view> ids;
  for (const RequestRow& request : requests) {
    const model::RequestKey key = model::RequestKeyOf(request.lane, request.request_id);
    heads.push_back(key.head);
    hashes.push_back(key.hash);
    body_hashes.push_back(model::LeadingInt64(request.body_hash));
    first_ids.push_back(request.first_id);
    lanes.push_back(request.lane);
    ids.push_back(request.request_id);
  }
  params.Int8Array(heads).UuidArray(hashes).Int8Array(body_hashes).Int8Array(first_ids);
  params.Int8Array(lanes).TextArray(ids);
}

Enqueued ReadAsked(const pg::Rows& rows, absl::Span<const TaskRow> tasks,
                   absl::FunctionRef<void(int, Enqueued&)> read_leased) {
  Enqueued result;
  absl::flat_hash_set<int64_t> known;  // calls, by their first ids
  for (int row = 0; row < rows.size(); ++row) {
    if (rows.IsNull(row, 3)) {
      known.insert(rows.Int(row, 0));
    } else if (rows.IsNull(row, 1)) {
      read_leased(row, result);
    } else {
      AddUnleased(rows, row, result);
    }
    result.now = rows.Micros(row, 5);
    result.began = rows.Micros(row, 6);
  }
  for (const TaskRow& row : tasks) {
    if (!known.contains(row.call)) result.made.insert(row.id.id);
  }
  return result;
}

absl::StatusOr<Enqueued> Enqueue(pg::Session& session, absl::Span<const TaskRow> tasks) {
  const TaskColumns columns(tasks);
  ASSIGN_OR_RETURN(const pg::Rows rows, session.Run(sql::kTaskEnqueue, columns.Bind()));
  Enqueued result;
  for (int row = 0; row < rows.size(); ++row) AddUnleased(rows, row, result);
  return result;
}

absl::StatusOr<Enqueued> EnqueueAsked(pg::Session& session, absl::Span<const TaskRow> tasks,
                                      absl::Span<const RequestRow> requests,
                                      const HandOff* hand_off) {
  TaskColumns columns(tasks);
  pg::Params params = columns.Bind();
  for (const TaskRow& row : tasks) columns.calls.push_back(row.call);
  params.Int8Array(columns.calls);
  BindRequests(requests, params);
  if (hand_off != nullptr) {
    params.Int4Array(hand_off->takers);
    BindLeasers(hand_off->callers, params);
  }
  const sql::Query& query =
      hand_off == nullptr ? sql::kTaskEnqueueAsked : sql::kTaskEnqueueLeased;
  ASSIGN_OR_RETURN(const pg::Rows rows, session.Run(query, params));
  const auto places = PlacesOf(tasks, hand_off);
  return ReadAsked(rows, tasks, [&](int row, Enqueued& result) {
    AddLeased(rows, row, tasks, places, *hand_off, result);
  });
}

absl::StatusOr<Enqueued> EnqueueOnce(pg::Session& session, absl::Span<const TaskRow> tasks,
                                     absl::Span<const RequestRow> requests) {
  TaskColumns columns(tasks);
  columns.AddRest(tasks);
  pg::Params params = columns.Bind();
  columns.BindRest(params);
  requests.empty() ? BindNoRequests(params) : BindRequests(requests, params);
  const sql::Query& query =
      requests.empty() ? sql::kTaskEnqueueOnce : sql::kTaskEnqueueOnceAsked;
  ASSIGN_OR_RETURN(const pg::Rows rows, session.Run(query, params));
  return Gather(rows);
}

absl::StatusOr<int64_t> NextTaskIds(pg::Session& session) {
  ASSIGN_OR_RETURN(const pg::Rows rows, session.Run(sql::kTaskIdBlock, pg::Params()));
  return rows.Int(0, 0);
}

absl::StatusOr<absl::flat_hash_map<std::string, KeyHolder>> HeldKeys(
    pg::Session& session, int64_t lane, absl::Span<const absl::string_view> keys) {
  ASSIGN_OR_RETURN(const pg::Rows rows,
                   session.Run(sql::kKeyGet, pg::Params().Int8(lane).TextArray(keys)));
  absl::flat_hash_map<std::string, KeyHolder> held;
  for (int row = 0; row < rows.size(); ++row) {
    KeyHolder holder{rows.Int(row, 1), static_cast<model::TaskState>(rows.Int(row, 2)), {}};
    if (!rows.IsNull(row, 3)) holder.end_time = rows.Micros(row, 3);
    held.emplace(std::string(rows.Text(row, 0)), holder);
  }
  return held;
}

absl::StatusOr<absl::flat_hash_map<std::string, AnsweredRequest>> AnsweredRequests(
    pg::Session& session, int64_t lane, absl::Span<const absl::string_view> request_ids) {
  std::vector<int64_t> heads;
  std::vector<pg::Uuid> hashes;
  for (const absl::string_view id : request_ids) {
    const model::RequestKey key = model::RequestKeyOf(lane, id);
    heads.push_back(key.head);
    hashes.push_back(key.hash);
  }
  pg::Params params;
  params.Int8(lane).TextArray(request_ids).Int8Array(heads).UuidArray(hashes);
  ASSIGN_OR_RETURN(const pg::Rows rows, session.Run(sql::kEnqueueRequestGet, params));
  absl::flat_hash_map<std::string, AnsweredRequest> answered;
  for (int row = 0; row < rows.size(); ++row) {
    answered.emplace(std::string(rows.Text(row, 0)),
                     AnsweredRequest{rows.Int(row, 1), rows.Int(row, 2), rows.Micros(row, 3)});
  }
  return answered;
}

absl::StatusOr<absl::flat_hash_set<int64_t>> LivingTasks(pg::Session& session, int64_t lane,
                                                         absl::Span<const int64_t> ids) {
  ASSIGN_OR_RETURN(const pg::Rows rows,
                   session.Run(sql::kTaskKnown, pg::Params().Int8(lane).Int8Array(ids)));
  absl::flat_hash_set<int64_t> living;
  for (int row = 0; row < rows.size(); ++row) living.insert(rows.Int(row, 0));
  return living;
}

}  // namespace skiplane::store
