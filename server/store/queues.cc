#include "server/store/queues.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "server/base/reason.h"
#include "server/base/status_macros.h"
#include "server/sql/queries.h"

namespace skiplane::store {
namespace {

absl::StatusOr<model::Page<model::Queue>> Read(pg::Session& session, const std::string& after,
                                               const std::string& only, int limit,
                                               int64_t bytes_max = INT64_MAX) {
  pg::Params params;
  params.Text(after).Text(only).Int4(limit).Int8(bytes_max);
  ASSIGN_OR_RETURN(const pg::Rows rows, session.Run(sql::kQueueList, params));
  model::Page<model::Queue> page;
  for (int row = 0; row < rows.size(); ++row) {
    model::Queue& queue = page.items.emplace_back();
    page.bytes = rows.Int(row, 9);
    page.has_more = rows.Bool(row, 10);
    queue.id = rows.Int(row, 0);
    queue.name = std::string(rows.Text(row, 1));
    ASSIGN_OR_RETURN(queue.settings, model::SettingsFromJson(rows.Text(row, 2)));
    queue.pause = static_cast<model::PauseMode>(rows.Int(row, 3));
    queue.pause_reason = std::string(rows.Text(row, 4));
    queue.version = rows.Int(row, 5);
    queue.create_time = rows.Micros(row, 6);
    queue.update_time = rows.Micros(row, 7);
    for (absl::string_view lane : absl::StrSplit(rows.Text(row, 8), ',', absl::SkipEmpty())) {
      int64_t number = 0;
      if (absl::SimpleAtoi(lane, &number)) queue.lanes.push_back(number);
    }
    if (!rows.IsNull(row, 11)) queue.deletion = rows.UuidValue(row, 11);
  }
  return page;
}

}  // namespace

absl::StatusOr<bool> CreateQueue(pg::Session& session, const std::string& name,
                                 const model::QueueSettings& settings, int lanes,
                                 int queues_max) {
  pg::Params params;
  params.Text(name).Text(model::SettingsToJson(settings)).Int4(lanes).Int4(queues_max);
  ASSIGN_OR_RETURN(const pg::Rows rows, session.Run(sql::kQueueCreate, params));
  const bool is_full = rows.Bool(0, 1);
  if (is_full && absl::IsNotFound(GetQueue(session, name).status())) {
    return base::Refuse(absl::StatusCode::kResourceExhausted, "TOO_MANY_QUEUES",
                        absl::StrCat("there are ", queues_max, " queues, the most that there may ",
                                     "be: use one of them"));
  }
  return !rows.IsNull(0, 0);
}

absl::Status QueueNotFound(const std::string& name) {
  return base::Refuse(absl::StatusCode::kNotFound, "QUEUE_NOT_FOUND",
                      absl::StrCat("no queue is named \"", name,
                                   "\": CreateQueue (skiplane queues create) makes it, or a "
                                   "broker with --auto-create-queues"));
}

absl::Status QueueDeleting(const std::string& name) {
  return base::Refuse(absl::StatusCode::kFailedPrecondition, "QUEUE_DELETING",
                      absl::StrCat("an operator deletes the queue \"", name,
                                   "\": nothing was changed; use another queue, or wait until it "
                                   "is gone and create it anew"));
}

absl::StatusOr<model::Queue> GetQueue(pg::Session& session, const std::string& name) {
  ASSIGN_OR_RETURN(model::Page<model::Queue> found, Read(session, "", name, 1));
  if (found.items.empty()) return QueueNotFound(name);
  return std::move(found.items.front());
}

absl::StatusOr<std::optional<model::Queue>> QueueOfLane(pg::Session& session, int64_t lane) {
  ASSIGN_OR_RETURN(const pg::Rows rows, session.Run(sql::kLaneGet, pg::Params().Int8(lane)));
  if (rows.empty()) return std::nullopt;
  return GetQueue(session, std::string(rows.Text(0, 0)));
}

absl::StatusOr<std::vector<model::Queue>> ListQueues(pg::Session& session, const std::string& after,
                                                     int limit) {
  ASSIGN_OR_RETURN(model::Page<model::Queue> page, Read(session, after, "", limit));
  return std::move(page.items);
}

absl::StatusOr<model::Page<model::Queue>> ListQueuePage(pg::Session& session,
                                                        const std::string& after, int limit,
                                                        int64_t bytes_max) {
  return Read(session, after, "", limit, bytes_max);
}

absl::StatusOr<bool> UpdateQueue(pg::Session& session, const std::string& name, int64_t version,
                                 const model::QueueSettings& settings) {
  pg::Params params;
  params.Text(name).Int8(version).Text(model::SettingsToJson(settings));
  ASSIGN_OR_RETURN(const pg::Rows rows, session.Run(sql::kQueueUpdate, params));
  return !rows.empty();
}

absl::StatusOr<bool> PauseQueue(pg::Session& session, const std::string& name,
                                model::PauseMode mode, const std::string& reason) {
  pg::Params params;
  params.Text(name).Int2(static_cast<int16_t>(mode)).Text(reason);
  ASSIGN_OR_RETURN(const pg::Rows rows, session.Run(sql::kQueuePause, params));
  return !rows.empty();
}

absl::Status BeginDeletion(pg::Session& session, const model::Queue& queue,
                           const model::SessionId& id) {
  pg::Params params;
  params.Int8(queue.id).Int8(queue.version).UuidValue(id);
  ASSIGN_OR_RETURN(const pg::Rows rows, session.Run(sql::kDeletionBegin, params));
  if (!rows.empty()) return absl::OkStatus();
  return base::Refuse(absl::StatusCode::kAborted, "TRANSACTION_CONFLICT",
                      absl::StrCat("queue \"", queue.name, "\" is changed by others: call again"));
}

absl::StatusOr<bool> SealQueue(pg::Session& session, const model::SessionId& id) {
  ASSIGN_OR_RETURN(const pg::Rows rows,
                   session.Run(sql::kDeletionSeal, pg::Params().UuidValue(id)));
  return !rows.empty();
}

absl::Status UndoDeletion(pg::Session& session, const model::SessionId& id) {
  return session.Run(sql::kDeletionUndo, pg::Params().UuidValue(id)).status();
}

absl::StatusOr<std::optional<std::string>> BrokerToConfirm(pg::Session& session,
                                                           const model::SessionId& id) {
  ASSIGN_OR_RETURN(const pg::Rows rows,
                   session.Run(sql::kDeletionAwaited, pg::Params().UuidValue(id)));
  if (rows.empty()) return std::nullopt;
  return std::string(rows.Text(0, 0));
}

absl::StatusOr<bool> HoldTasks(pg::Session& session, absl::Span<const int64_t> lanes) {
  ASSIGN_OR_RETURN(const pg::Rows rows,
                   session.Run(sql::kDeletionHolds, pg::Params().Int8Array(lanes)));
  return rows.Bool(0, 0);
}

absl::StatusOr<Purged> PurgeLane(pg::Session& session, int64_t lane, int rows, int64_t after) {
  pg::Params params;
  params.Int8(lane).Int4(rows).Int8(after);
  ASSIGN_OR_RETURN(const pg::Rows found, session.Run(sql::kDeletionPurge, params));
  return Purged{found.Int(0, 0), found.Int(0, 1), found.Int(0, 2)};
}

absl::StatusOr<bool> FinishDeletion(pg::Session& session, const model::SessionId& id) {
  ASSIGN_OR_RETURN(const pg::Rows rows,
                   session.Run(sql::kDeletionFinish, pg::Params().UuidValue(id)));
  return rows.Bool(0, 0);
}

}  // namespace skiplane::store
