#include "server/store/lease.h"

#include <algorithm>
#include <optional>
#include <tuple>

#include "server/base/status_macros.h"
#include "server/model/limits.h"
#include "server/sql/queries.h"
#include "server/store/texts.h"
#include "server/store/task_view.h"

namespace skiplane::store {
namespace {

constexpr int kTaskId = 4;  // of lease_get
constexpr int kNow = 19;    // of task_lease and task_lease_packed
constexpr int kPackCallers = 20;

void BindBounds(const std::vector<Bound>& bounds, pg::Params& params) {
  std::vector<int16_t> priorities;
  std::vector<std::optional<absl::Time>> schedule_times;
  std::vector<int64_t> ids;
  for (const Bound& bound : bounds) {
    priorities.push_back(bound.priority);
    schedule_times.push_back(bound.schedule_time);
    ids.push_back(bound.id);
  }
  params.Int2Array(priorities).TimestampArray(schedule_times).Int8Array(ids);
}

void BindCallers(const std::vector<LeaseCaller>& callers, pg::Params& params) {
  BindLeasers(callers, params);
  std::vector<int64_t> max_bytes;
  for (const LeaseCaller& caller : callers) {
    max_bytes.push_back(caller.holds_tasks ? -caller.max_bytes : caller.max_bytes);
  }
  params.Int8Array(max_bytes);
}

int64_t BytesThatAlwaysFit(const LeaseDemand& demand) {
  int64_t bytes = demand.bytes_max;
  for (const LeaseCaller& caller : demand.callers) bytes = std::min(bytes, caller.max_bytes);
  return bytes;
}

// The columns that Lease and FindLeases share, from `first` on: row location, id, lease number,
// attempt, max attempts, priority, schedule time, created, key, content type, headers, payload,
// version, planned time; error type, fingerprint and text, progress: of an earlier attempt.
model::LeasedTask ReadTask(const pg::Rows& rows, int row, int first, int64_t lane) {
  model::LeasedTask task;
  const pg::Tid location = rows.TidValue(row, first);
  task.token.block = location.block;
  task.token.offset = location.offset;
  task.token.task = {lane, rows.Int(row, first + 1)};
  task.token.lease_number = rows.Int(row, first + 2);
  task.token.attempt = static_cast<int32_t>(rows.Int(row, first + 3));
  task.max_attempts = static_cast<int32_t>(rows.Int(row, first + 4));
  task.priority = static_cast<int16_t>(rows.Int(row, first + 5));
  task.schedule_time = rows.Micros(row, first + 6);
  task.create_time = rows.Micros(row, first + 7);
  task.key = std::string(rows.Text(row, first + 8));
  task.content_type = std::string(rows.Text(row, first + 9));
  if (!rows.IsNull(row, first + 10)) task.headers = HeadersFromJson(rows.Text(row, first + 10));
  task.payload = rows.Bytea(row, first + 11);
  if (!rows.IsNull(row, first + 12)) task.version = rows.Int(row, first + 12);
  if (!rows.IsNull(row, first + 13)) task.planned_time = rows.Micros(row, first + 13);
  task.token.is_recurring = task.planned_time.has_value();
  task.last_error = ErrorIfAny(rows, row, first + 14);
  task.last_progress = ProgressIfAny(rows, row, first + 17);
  return task;
}

// The statement follows the index of each priority, but the database promises no order of its own.
bool IsMoreUrgent(const LeasedRow& a, const LeasedRow& b) {
  return std::tie(a.task.priority, a.task.schedule_time, a.task.token.task.id) <
         std::tie(b.task.priority, b.task.schedule_time, b.task.token.task.id);
}

// What ledger rows say: leases that live, and the rows of those that do not.
struct Ledger {
  std::vector<LeasedRow> living;
  std::vector<pg::Uuid> ended;
};

absl::StatusOr<Ledger> ReadLedger(pg::Session& session, int64_t lane,
                                  absl::Span<const absl::string_view> request_ids,
                                  absl::Span<const pg::Uuid> ledgers) {
  ASSIGN_OR_RETURN(
      const pg::Rows rows,
      session.Run(sql::kLeaseGet,
                  pg::Params().Int8(lane).TextArray(request_ids).UuidArray(ledgers)));
  Ledger found;
  for (int row = 0; row < rows.size(); ++row) {
    if (rows.IsNull(row, kTaskId)) {
      const pg::Uuid ledger = rows.UuidValue(row, 1);
      if (found.ended.empty() || found.ended.back() != ledger) found.ended.push_back(ledger);
      continue;
    }
    LeasedRow& out = found.living.emplace_back();
    out.request_id = std::string(rows.Text(row, 0));
    out.ledger = rows.UuidValue(row, 1);
    out.task = ReadTask(rows, row, 3, lane);
    out.task.token.session = rows.UuidValue(row, 2);
    out.task.token.stage = static_cast<int16_t>(rows.Int(row, 21));
  }
  std::sort(found.living.begin(), found.living.end(), IsMoreUrgent);
  return found;
}

// Packs to look at: so many have these tasks though they are small and the first one is begun. No
// more are locked than that takes.
int32_t PacksFor(size_t tasks) {
  return static_cast<int32_t>(tasks + model::kPackTasksLeast - 1) / model::kPackTasksLeast + 1;
}

void ReadHeldBack(const pg::Rows& rows, int row, Leased& leased) {
  leased.held_back.push_back(
      {static_cast<int16_t>(rows.Int(row, 6)), rows.Micros(row, 7), rows.Int(row, 2)});
}

// The tasks of a pack, in their order.
void AddPack(const pg::Rows& rows, int row, const LeaseDemand& demand, Leased& leased) {
  const std::vector<int64_t> callers = NumbersOf(rows.Text(row, kPackCallers));
  const std::vector<int64_t> masks = NumbersOf(rows.Text(row, kPackCallers + 1));
  const std::vector<int64_t> lengths = NumbersOf(rows.Text(row, kPackCallers + 2));
  const std::vector<std::string> types = TextsFromJson(rows.Text(row, 10));
  const std::vector<model::Headers> headers = HeadersOfEach(rows.Text(row, 11));
  const std::string payloads = rows.Bytea(row, 12);
  leased.now = rows.Micros(row, kNow);
  size_t number = 0, offset = 0;
  for (uint16_t position = 0; position < model::kPackTasksMax; ++position) {
    const auto has_it = [&](int64_t mask) { return (mask >> position & 1) != 0; };
    const auto mask = std::find_if(masks.begin(), masks.end(), has_it);
    if (mask == masks.end()) continue;
    LeasedRow& out = leased.rows.emplace_back();
    out.caller = static_cast<int>(callers[static_cast<size_t>(mask - masks.begin())]) - 1;
    model::LeasedTask& task = out.task;
    task.token = {.task = {demand.lane, rows.Int(row, 2) + position},
                  .lease_number = rows.Int(row, 3),
                  .session = demand.callers[static_cast<size_t>(out.caller)].session,
                  .attempt = 1,
                  .block = model::LeaseToken::kPackBlock,
                  .offset = position,
                  .stage = demand.stage};
    task.max_attempts = static_cast<int32_t>(rows.Int(row, 5));
    task.priority = static_cast<int16_t>(rows.Int(row, 6));
    task.schedule_time = rows.Micros(row, 7);
    task.create_time = rows.Micros(row, 8);
    if (!types.empty()) task.content_type = types[number];
    if (!headers.empty()) task.headers = headers[number];
    const auto length = static_cast<size_t>(lengths[number++]);
    task.payload = payloads.substr(offset, length);
    offset += length;
  }
}

}  // namespace

void BindLeasers(absl::Span<const LeaseCaller> callers, pg::Params& params) {
  std::vector<pg::Uuid> sessions, ledgers;
  std::vector<std::optional<absl::string_view>> request_ids;
  for (const LeaseCaller& caller : callers) {
    sessions.push_back(caller.session);
    ledgers.push_back(caller.ledger);
    request_ids.push_back(IfAny(caller.request_id));
  }
  params.UuidArray(sessions).UuidArray(ledgers).OptionalTextArray(request_ids);
}

absl::StatusOr<Leased> Lease(pg::Session& session, const LeaseDemand& demand) {
  pg::Params params;
  params.Int8(demand.lane).Int2(demand.stage);
  BindBounds(demand.bounds, params);
  params.Int4(static_cast<int32_t>(demand.slots.size())).Int4Array(demand.slots);
  BindCallers(demand.callers, params);
  params.Int8(demand.bytes_max).Int8(BytesThatAlwaysFit(demand));
  if (demand.has_packs) params.Int4(PacksFor(demand.slots.size()));
  const sql::Query& query = demand.has_packs ? sql::kTaskLeasePacked : sql::kTaskLease;
  ASSIGN_OR_RETURN(const pg::Rows rows, session.Run(query, params));
  Leased leased;
  leased.rows.reserve(demand.slots.size());
  for (int row = 0; row < rows.size(); ++row) {
    if (demand.has_packs && rows.IsNull(row, 0)) {
      leased.saw_packs = true;
      rows.IsNull(row, kPackCallers) ? ReadHeldBack(rows, row, leased)
                                     : AddPack(rows, row, demand, leased);
      continue;
    }
    LeasedRow& out = leased.rows.emplace_back();
    out.caller = static_cast<int>(rows.Int(row, 0)) - 1;
    out.task = ReadTask(rows, row, 1, demand.lane);
    out.task.token.session = demand.callers[static_cast<size_t>(out.caller)].session;
    out.task.token.stage = demand.stage;
    leased.now = rows.Micros(row, kNow);
  }
  std::sort(leased.rows.begin(), leased.rows.end(), IsMoreUrgent);
  return leased;
}

absl::StatusOr<std::vector<std::string>> KnownRequests(
    pg::Session& session, int64_t lane, absl::Span<const absl::string_view> ids) {
  ASSIGN_OR_RETURN(
      const pg::Rows rows,
      session.Run(sql::kLeaseKnown, pg::Params().Int8(lane).TextArray(ids)));
  std::vector<std::string> known;
  for (int row = 0; row < rows.size(); ++row) known.emplace_back(rows.Text(row, 0));
  return known;
}

absl::StatusOr<std::vector<LeasedRow>> FindLeases(
    pg::Session& session, int64_t lane, absl::Span<const absl::string_view> request_ids,
    absl::Span<const pg::Uuid> ledgers) {
  ASSIGN_OR_RETURN(Ledger found, ReadLedger(session, lane, request_ids, ledgers));
  return std::move(found.living);
}

// A lease that is over stays so, and so does a row that holds nothing: by its id it can be dropped
// at any time after.
absl::StatusOr<std::vector<LeasedRow>> FindRequest(pg::Session& session, int64_t lane,
                                                   absl::Span<const absl::string_view> ids) {
  ASSIGN_OR_RETURN(Ledger found, ReadLedger(session, lane, ids, {}));
  if (found.living.empty() && !found.ended.empty()) {
    const pg::Params params = pg::Params().Int8(lane).UuidArray(found.ended);
    RETURN_IF_ERROR(session.Run(sql::kLedgerDrop, params).status());
  }
  return std::move(found.living);
}

absl::Status CloseLedger(pg::Session& session, int64_t lane, absl::Span<const pg::Uuid> ledgers) {
  return session.Run(sql::kLedgerClose, pg::Params().Int8(lane).UuidArray(ledgers)).status();
}

}  // namespace skiplane::store
