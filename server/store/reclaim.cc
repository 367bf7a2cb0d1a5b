#include "server/store/reclaim.h"

#include <map>

#include "server/base/status_macros.h"
#include "server/sql/queries.h"

namespace skiplane::store {
namespace {

std::vector<pg::Uuid> Uuids(const pg::Rows& rows) {
  std::vector<pg::Uuid> uuids;
  for (int row = 0; row < rows.size(); ++row) uuids.push_back(rows.UuidValue(row, 0));
  return uuids;
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

absl::StatusOr<std::vector<pg::Uuid>> LostSessions(pg::Session& session) {
  ASSIGN_OR_RETURN(const pg::Rows rows, session.Run(sql::kSessionLost, pg::Params()));
  return Uuids(rows);
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

absl::StatusOr<std::vector<pg::Uuid>> UnknownSessions(pg::Session& session,
                                                      absl::Span<const pg::Uuid> sessions) {
  ASSIGN_OR_RETURN(const pg::Rows rows,
                   session.Run(sql::kSessionUnknown, pg::Params().UuidArray(sessions)));
  return Uuids(rows);
}

absl::StatusOr<Reclaimed> Reclaim(pg::Session& session, int64_t lane,
                                  absl::Span<const pg::Uuid> sessions,
                                  model::HistoryPolicy history, int ledger_rows) {
  pg::Params params;
  params.Int8(lane).UuidArray(sessions).Int2(static_cast<int16_t>(history)).Int4(ledger_rows);
  ASSIGN_OR_RETURN(const pg::Rows rows, session.Run(sql::kTaskReclaim, params));
  Reclaimed result;
  result.found_rows = !rows.empty();
  std::map<std::pair<int16_t, int16_t>, Claimable> groups;
  for (int row = 0; row < rows.size(); ++row) {
    if (rows.IsNull(row, 0)) continue;
    if (rows.Int(row, 2) == 3) {
      ++result.failed;
      continue;
    }
    ++result.freed;
    const auto priority = static_cast<int16_t>(rows.Int(row, 3));
    const auto stage = static_cast<int16_t>(rows.Int(row, 4));
    const absl::Time run_at = rows.Micros(row, 5);
    Claimable& group = groups[{stage, priority}];
    if (group.count == 0) group = {lane, stage, priority, true, 0, run_at};
    group.run_at = std::min(group.run_at, run_at);
    ++group.count;
  }
  for (const auto& [key, group] : groups) result.claimable.push_back(group);
  return result;
}

absl::Status ForgetSessions(pg::Session& session, absl::Span<const pg::Uuid> sessions) {
  return session.Run(sql::kSessionForget, pg::Params().UuidArray(sessions)).status();
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
