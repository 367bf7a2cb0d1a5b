#include "server/store/reclaim.h"

#include <algorithm>
#include <chrono>
#include <map>

#include "server/base/status_macros.h"
#include "server/pg/transaction.h"
#include "server/sql/queries.h"
#include "server/store/sessions.h"
#include "server/store/settle.h"

namespace skiplane::store {
namespace {

GoneSessions ReadGone(const pg::Rows& rows) {
  GoneSessions gone;
  for (int row = 0; row < rows.size(); ++row) {
    (rows.Bool(row, 1) ? gone.ended : gone.lost).push_back(rows.UuidValue(row, 0));
    gone.last = rows.UuidValue(row, 0);
  }
  return gone;
}

const model::TaskError kLost{"LEASE_LOST", "", "LEASE_LOST"};
const model::TaskError kHanged{"HANGED", "", "HANGED"};

// How much a step does at most: what it looks up, and what one statement takes back, as a task that
// fails is copied with its payload. It ends after some time, and goes on when it is called again.
struct StepLimits {
  int ledger_rows = 0;
  int64_t leases_before_last_row = 5000;
  size_t leases_at_once = 500;
  int64_t bytes_at_once = 32 << 20;
  std::chrono::milliseconds time{200};
};

// Whose leases of a lane.
struct Wanted {
  int64_t lane = 0;
  absl::Span<const pg::Uuid> sessions;
  Action action = Action::kLost;
  const model::QueueSettings& settings;
  pg::Uuid after{};  // the ledger row behind which to look
};

// Leases that are to be taken back, and the ledger rows that then are to be written anew.
struct Found {
  std::vector<SettleRow> leases;
  std::vector<int64_t> bytes;  // of their payloads
  std::vector<pg::Uuid> ledgers;
  pg::Uuid last{};  // ledger row that was looked at
  bool any_rows = false;
};

void ReadLease(const pg::Rows& rows, int row, const Wanted& wanted, Found& found) {
  SettleRow& lease = found.leases.emplace_back();
  lease.token.task = {wanted.lane, rows.Int(row, 2)};
  lease.token.lease_number = rows.Int(row, 3);
  lease.token.session = rows.UuidValue(row, 4);
  lease.token.attempt = static_cast<int32_t>(rows.Int(row, 5));
  found.bytes.push_back(rows.Int(row, 6));
  if (rows.Bool(row, 7)) lease.token.block = model::LeaseToken::kPackBlock;
  lease.action = wanted.action;
  if (wanted.action == Action::kHang) lease.error = &kHanged;
  if (wanted.action == Action::kLost) lease.error = &kLost;
}

absl::StatusOr<Found> FindLeasesOf(pg::Session& session, const Wanted& wanted,
                                   const StepLimits& limits) {
  std::vector<int16_t> stages;
  std::vector<int64_t> run_limits;
  const int stage_count = wanted.action == Action::kHang ? wanted.settings.StageCount() : 0;
  for (int16_t stage = 0; stage < stage_count; ++stage) {
    stages.push_back(stage);
    run_limits.push_back(absl::ToInt64Microseconds(wanted.settings.MaxRunDurationOf(stage)));
  }
  pg::Params params;
  params.Int8(wanted.lane).UuidArray(wanted.sessions).Int2Array(stages).Int8Array(run_limits);
  params.Int8(run_limits.empty() ? 0 : *std::ranges::min_element(run_limits));
  params.UuidValue(wanted.after).Int4(limits.ledger_rows).Int8(limits.leases_before_last_row);
  ASSIGN_OR_RETURN(const pg::Rows rows, session.Run(sql::kLedgerEntries, params));
  Found found;
  for (int row = 0; row < rows.size(); ++row) {
    const pg::Uuid ledger = rows.UuidValue(row, 0);
    const bool has_lease = !rows.IsNull(row, 2);
    found.last = std::max(found.last, ledger);
    found.any_rows = true;
    if ((has_lease || rows.Bool(row, 1)) &&
        std::ranges::find(found.ledgers, ledger) == found.ledgers.end()) {
      found.ledgers.push_back(ledger);
    }
    if (has_lease) ReadLease(rows, row, wanted, found);
  }
  return found;
}

using Groups = std::map<std::pair<int16_t, int16_t>, UnleasedTasks>;  // by stage and priority

void Count(const Settled& row, int64_t lane, Groups& groups, Reclaimed& result) {
  if (row.outcome == Action::kCancel) ++result.cancelled;
  if (row.outcome == Action::kFail) ++result.failed;
  if (!row.schedule_time.has_value()) return;
  ++result.freed;
  if (*row.schedule_time == absl::InfiniteFuture()) return;  // paused meanwhile
  UnleasedTasks& group = groups[{row.stage, row.priority}];
  if (group.count == 0) group = {lane, row.stage, row.priority, true, 0, *row.schedule_time};
  group.is_ready = *row.schedule_time <= row.now;
  group.schedule_time = std::min(group.schedule_time, *row.schedule_time);
  ++group.count;
}

// The workers of hanged attempts live, and hear of it with their next heartbeat.
absl::StatusOr<std::vector<Settled>> SettleAndTell(pg::Session& session,
                                                   const SettleBatch& batch) {
  return pg::InTransaction(session, [&]() -> absl::StatusOr<std::vector<Settled>> {
    ASSIGN_OR_RETURN(std::vector<Settled> settled, Settle(session, batch));
    std::vector<model::LeaseToken> taken;
    for (const Settled& row : settled) taken.push_back(batch.rows[row.index].token);
    RETURN_IF_ERROR(TellSessionsAtOnce(session, taken));
    return settled;
  });
}

// How many leases from `first` on are taken back by one statement.
size_t PartAt(const Found& found, size_t first, const StepLimits& limits) {
  size_t count = 0;
  int64_t bytes = 0;
  for (; first + count < found.bytes.size() && count < limits.leases_at_once; ++count) {
    bytes += found.bytes[first + count];
    if (count > 0 && bytes > limits.bytes_at_once) break;
  }
  return count;
}

absl::Status TakeBackPart(pg::Session& session, const SettleBatch& batch, Groups& groups,
                          Reclaimed& result) {
  const bool are_hanged = batch.rows.front().action == Action::kHang;
  ASSIGN_OR_RETURN(const std::vector<Settled> settled,
                   are_hanged ? SettleAndTell(session, batch) : Settle(session, batch));
  for (const Settled& row : settled) {
    Count(row, batch.lane, groups, result);
    const model::LeaseToken& token = batch.rows[row.index].token;
    if (!row.schedule_time.has_value()) result.ended.push_back(token.task.id);
    result.sessions.insert(token.session);
    result.now = row.now;
  }
  return absl::OkStatus();
}

// Returns how many of the leases were dealt with; an error only if the first part had it. What
// comes after an error is found again by the next step, which then tells of it.
absl::StatusOr<size_t> TakeBackParts(pg::Session& session, const Wanted& wanted,
                                     const StepLimits& limits, const Found& found,
                                     Reclaimed& result) {
  const auto end = std::chrono::steady_clock::now() + limits.time;
  Groups groups;
  size_t done = 0;
  while (done < found.leases.size()) {
    SettleBatch batch;
    batch.lane = wanted.lane;
    batch.settings = wanted.settings;
    const size_t count = PartAt(found, done, limits);
    const auto first = found.leases.begin() + static_cast<std::ptrdiff_t>(done);
    batch.rows.assign(first, first + static_cast<std::ptrdiff_t>(count));
    const absl::Status status = TakeBackPart(session, batch, groups, result);
    if (!status.ok() && done == 0) return status;
    if (!status.ok()) break;
    done += count;
    if (std::chrono::steady_clock::now() >= end) break;
  }
  for (const auto& [key, group] : groups) result.unleased.push_back(group);
  return done;
}

// Ledger rows are written anew in a commit after the tasks': if it does not come, the next step
// finds them to hold nothing.
absl::StatusOr<Reclaimed> TakeBack(pg::Session& session, const Wanted& wanted,
                                   const StepLimits& limits) {
  ASSIGN_OR_RETURN(const Found found, FindLeasesOf(session, wanted, limits));
  Reclaimed result;
  result.last = wanted.after;
  if (!found.any_rows) return result;
  ASSIGN_OR_RETURN(const size_t done, TakeBackParts(session, wanted, limits, found, result));
  result.found_rows = true;
  if (done < found.leases.size()) return result;
  const bool goes_on = wanted.action == Action::kHang;
  if (goes_on) result.last = found.last;
  if (found.ledgers.empty()) return result;
  const auto dropped = session.Run(sql::kLedgerDrop,
                                   pg::Params().Int8(wanted.lane).UuidArray(found.ledgers));
  if (result.Attempts() > 0) return result;
  if (!dropped.ok()) return dropped.status();
  // Rows that somebody else works on are no reason to come again at once.
  result.found_rows = goes_on || dropped->Int(0, 0) > 0;
  return result;
}

// What took longer than a statement may would take as long again, for ever: then the least at once.
absl::StatusOr<Reclaimed> TakeBackCarefully(pg::Session& session, const Wanted& wanted,
                                            int ledger_rows) {
  absl::StatusOr<Reclaimed> result = TakeBack(session, wanted, {.ledger_rows = ledger_rows});
  if (!absl::IsDeadlineExceeded(result.status())) return result;
  return TakeBack(session, wanted,
                  {.ledger_rows = 1, .leases_before_last_row = 0, .leases_at_once = 1});
}

}  // namespace

absl::StatusOr<int64_t> ExpireSessions(pg::Session& session) {
  ASSIGN_OR_RETURN(const pg::Rows rows, session.Run(sql::kSessionExpire, pg::Params()));
  return rows.size();
}

absl::StatusOr<int64_t> GrantGrace(pg::Session& session) {
  ASSIGN_OR_RETURN(const pg::Rows rows, session.Run(sql::kSessionGrace, pg::Params()));
  return rows.Int(0, 0);
}

absl::StatusOr<GoneSessions> FindGoneSessions(pg::Session& session, const pg::Uuid& after) {
  ASSIGN_OR_RETURN(const pg::Rows rows,
                   session.Run(sql::kSessionGone, pg::Params().UuidValue(after)));
  return ReadGone(rows);
}

absl::StatusOr<std::vector<std::pair<int64_t, pg::Uuid>>> LedgerLanes(
    pg::Session& session, absl::Span<const pg::Uuid> sessions) {
  ASSIGN_OR_RETURN(const pg::Rows rows,
                   session.Run(sql::kLedgerLanes, pg::Params().UuidArray(sessions)));
  std::vector<std::pair<int64_t, pg::Uuid>> lanes;
  for (int row = 0; row < rows.size(); ++row) {
    lanes.emplace_back(rows.Int(row, 0), rows.UuidValue(row, 1));
  }
  return lanes;
}

absl::StatusOr<GoneSessions> UnknownSessions(pg::Session& session,
                                             absl::Span<const pg::Uuid> sessions) {
  ASSIGN_OR_RETURN(const pg::Rows rows,
                   session.Run(sql::kSessionUnknown, pg::Params().UuidArray(sessions)));
  return ReadGone(rows);
}

absl::StatusOr<Reclaimed> Reclaim(pg::Session& session, int64_t lane,
                                  absl::Span<const pg::Uuid> sessions,
                                  const model::QueueSettings& settings, int ledger_rows,
                                  Action as) {
  return TakeBackCarefully(session, {lane, sessions, as, settings}, ledger_rows);
}

absl::StatusOr<std::vector<std::pair<int64_t, absl::Duration>>> OldestLeases(
    pg::Session& session) {
  ASSIGN_OR_RETURN(const pg::Rows rows, session.Run(sql::kLedgerOldest, pg::Params()));
  std::vector<std::pair<int64_t, absl::Duration>> oldest;
  for (int row = 0; row < rows.size(); ++row) {
    oldest.emplace_back(rows.Int(row, 0), absl::Microseconds(rows.Int(row, 1)));
  }
  return oldest;
}

absl::StatusOr<Reclaimed> ReclaimHanged(pg::Session& session, int64_t lane,
                                        const model::QueueSettings& settings, int ledger_rows,
                                        const pg::Uuid& after) {
  return TakeBackCarefully(session, {lane, {}, Action::kHang, settings, after}, ledger_rows);
}

absl::StatusOr<int64_t> ForgetSessions(pg::Session& session, absl::Span<const pg::Uuid> sessions) {
  ASSIGN_OR_RETURN(const pg::Rows rows,
                   session.Run(sql::kSessionForget, pg::Params().UuidArray(sessions)));
  return rows.size();
}

absl::StatusOr<UnusedSessions> ForgetUnusedSessions(pg::Session& session, const pg::Uuid& after,
                                                    int sessions) {
  ASSIGN_OR_RETURN(const pg::Rows rows,
                   session.Run(sql::kSessionUnused, pg::Params().UuidValue(after).Int4(sessions)));
  UnusedSessions unused{rows.Int(0, 0), rows.Int(0, 2)};
  if (!rows.IsNull(0, 1)) unused.last = rows.UuidValue(0, 1);
  return unused;
}

absl::StatusOr<std::vector<int64_t>> LanesToFold(pg::Session& session) {
  ASSIGN_OR_RETURN(const pg::Rows rows, session.Run(sql::kLedgerDue, pg::Params()));
  std::vector<int64_t> lanes;
  for (int row = 0; row < rows.size(); ++row) lanes.push_back(rows.Int(row, 0));
  return lanes;
}

absl::StatusOr<Folded> FoldLedger(pg::Session& session, int64_t lane, int ledger_rows) {
  ASSIGN_OR_RETURN(const pg::Rows rows,
                   session.Run(sql::kLedgerFold, pg::Params().Int8(lane).Int4(ledger_rows)));
  Folded folded;
  folded.found_rows = !rows.empty();
  for (int row = 0; row < rows.size(); ++row) {
    if (!rows.IsNull(row, 0)) folded.sessions.push_back(rows.UuidValue(row, 0));
  }
  return folded;
}

}  // namespace skiplane::store
