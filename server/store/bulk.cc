#include "server/store/bulk.h"

#include <limits>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "server/base/reason.h"
#include "server/base/status_macros.h"
#include "server/sql/queries.h"
#include "server/store/texts.h"

namespace skiplane::store {
namespace {

// Brokers before 0.2 make no steps of the second, whose filter they would not understand.
constexpr int16_t kRunning = 1;
constexpr int16_t kRunningAtNewer = 4;

constexpr absl::Duration kBulkAgain = absl::Seconds(1);

absl::StatusOr<model::Page<model::BulkOperation>> Read(pg::Session& session,
                                                       const pg::Params& params) {
  ASSIGN_OR_RETURN(const pg::Rows rows, session.Run(sql::kBulkGet, params));
  model::Page<model::BulkOperation> page;
  for (int row = 0; row < rows.size(); ++row) {
    model::BulkOperation& out = page.items.emplace_back();
    out.id = rows.UuidValue(row, 0);
    RETURN_IF_ERROR(model::BulkFromJson(rows.Text(row, 1), &out.filter, &out.change));
    out.dry_run = rows.Bool(row, 2);
    out.state = static_cast<model::BulkOperationState>(rows.Int(row, 3));
    out.scanned = rows.Int(row, 4);
    out.matched = rows.Int(row, 5);
    out.changed = rows.Int(row, 6);
    out.total = rows.Int(row, 7);
    out.actor = std::string(rows.Text(row, 8));
    out.create_time = rows.Micros(row, 9);
    out.update_time = rows.Micros(row, 10);
    page.bytes = rows.Int(row, 11);
    page.has_more = rows.Bool(row, 12);
  }
  return page;
}

absl::Status TooManyBulks(const std::string& queue) {
  return base::WithRetryDelay(
      base::Refuse(absl::StatusCode::kResourceExhausted, "TOO_MANY_BULK_OPERATIONS",
                   absl::StrCat(kRunningBulksMax, " bulk operations of the queue \"", queue,
                                "\" run, the most that may at a time; nothing was changed: wait "
                                "until one has ended, or stop one")),
      kBulkAgain);
}

}  // namespace

absl::Status BulkNotFound() {
  return base::Refuse(absl::StatusCode::kNotFound, "OPERATION_NOT_FOUND",
                      "no bulk operation of this id is known: they are kept for a week");
}

absl::Status CreateBulk(pg::Session& session, const NewBulk& bulk) {
  const bool is_deletion = bulk.change.kind == model::TaskChange::Kind::kDeleteQueue;
  pg::Params params;
  params.UuidValue(bulk.id).Int8(bulk.queue_id);
  params.Text(model::BulkToJson(bulk.filter, bulk.change)).Bool(bulk.dry_run);
  params.Int8Array(bulk.lanes);
  const std::vector<TaskTable> tables = TablesOf(bulk.filter.states);
  params.Int2(static_cast<int16_t>(tables.front())).Text(bulk.actor);
  params.Bool(absl::c_linear_search(tables, TaskTable::kLiving));
  params.Bool(absl::c_linear_search(tables, TaskTable::kFailed));
  const bool is_newer = bulk.filter.IsForNewerBrokers() || is_deletion;
  const auto state = is_newer ? kRunningAtNewer : kRunning;
  params.OptionalInt2Array({bulk.stage}).Int2(state);
  params.Int8(static_cast<int64_t>(bulk.filter.ids.size()));
  params.Int4(is_deletion ? std::numeric_limits<int32_t>::max() : kRunningBulksMax);
  ASSIGN_OR_RETURN(const pg::Rows rows, session.Run(sql::kBulkCreate, params));
  return rows.empty() ? TooManyBulks(bulk.filter.queue) : absl::OkStatus();
}

absl::StatusOr<std::optional<BulkCursor>> ClaimBulk(pg::Session& session,
                                                    const model::SessionId& id) {
  ASSIGN_OR_RETURN(const pg::Rows rows, session.Run(sql::kBulkClaim, pg::Params().UuidValue(id)));
  if (rows.empty()) return std::nullopt;
  BulkCursor cursor;
  RETURN_IF_ERROR(model::BulkFromJson(rows.Text(0, 0), &cursor.filter, &cursor.change));
  cursor.dry_run = rows.Bool(0, 1);
  cursor.lanes = NumbersOf(rows.Text(0, 2));
  cursor.table = static_cast<TaskTable>(rows.Int(0, 3));
  cursor.after = rows.Int(0, 4);
  if (!rows.IsNull(0, 5)) cursor.stage = static_cast<int16_t>(rows.Int(0, 5));
  return cursor;
}

absl::Status AdvanceBulk(pg::Session& session, const model::SessionId& id,
                         const BulkCursor& cursor, const BulkProgress& progress) {
  const auto state =
      cursor.lanes.empty() ? model::BulkOperationState::kDone : model::BulkOperationState::kRunning;
  pg::Params params;
  params.UuidValue(id).Int8Array(cursor.lanes).Int2(static_cast<int16_t>(cursor.table));
  params.Int8(cursor.after).Int8(progress.scanned).Int8(progress.matched).Int8(progress.changed);
  return session.Run(sql::kBulkAdvance, params.Int2(static_cast<int16_t>(state))).status();
}

absl::StatusOr<model::BulkOperation> GetBulk(pg::Session& session, const model::SessionId& id) {
  pg::Params params;
  params.UuidArray({id}).Timestamp(absl::InfiniteFuture()).UuidValue({}).Int4(1).Int8(0);
  ASSIGN_OR_RETURN(model::Page<model::BulkOperation> found, Read(session, params));
  if (found.items.empty()) return BulkNotFound();
  return std::move(found.items.front());
}

absl::StatusOr<std::vector<model::BulkOperation>> GetBulks(
    pg::Session& session, absl::Span<const model::SessionId> ids) {
  if (ids.empty()) return std::vector<model::BulkOperation>();  // to the statement: any
  pg::Params params;
  params.UuidArray(ids).Timestamp(absl::InfiniteFuture()).UuidValue({});
  params.Int4(static_cast<int32_t>(ids.size())).Int8(std::numeric_limits<int64_t>::max());
  ASSIGN_OR_RETURN(model::Page<model::BulkOperation> found, Read(session, params));
  return std::move(found.items);
}

absl::StatusOr<model::Page<model::BulkOperation>> ListBulks(pg::Session& session,
                                                            absl::Time before,
                                                            const model::SessionId& before_id,
                                                            int limit, int64_t bytes_max) {
  pg::Params params;
  params.UuidArray({}).Timestamp(before).UuidValue(before_id).Int4(limit).Int8(bytes_max);
  return Read(session, params);
}

absl::StatusOr<bool> StopBulk(pg::Session& session, const model::SessionId& id) {
  ASSIGN_OR_RETURN(const pg::Rows rows, session.Run(sql::kBulkStop, pg::Params().UuidValue(id)));
  if (rows.empty()) return BulkNotFound();
  return rows.Bool(0, 0);
}

absl::StatusOr<std::vector<model::SessionId>> IdleBulks(pg::Session& session) {
  ASSIGN_OR_RETURN(const pg::Rows rows, session.Run(sql::kBulkIdle, pg::Params()));
  std::vector<model::SessionId> ids;
  for (int row = 0; row < rows.size(); ++row) ids.push_back(rows.UuidValue(row, 0));
  return ids;
}

}  // namespace skiplane::store
