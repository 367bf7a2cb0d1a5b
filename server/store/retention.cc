#include "server/store/retention.h"

#include "server/base/status_macros.h"
#include "server/sql/queries.h"

namespace skiplane::store {
namespace {

absl::StatusOr<int64_t> Expire(pg::Session& session, const sql::Query& query, int64_t lane,
                               absl::Duration age, int rows) {
  pg::Params params;
  params.Int8(lane).Int8(absl::ToInt64Microseconds(age)).Int4(rows);
  ASSIGN_OR_RETURN(const pg::Rows answer, session.Run(query, params));
  return answer.Int(0, 0);
}

}  // namespace

absl::StatusOr<int64_t> ExpireAdminRequests(pg::Session& session, absl::Duration age, int rows) {
  pg::Params params;
  params.Int8(absl::ToInt64Microseconds(age)).Int4(rows);
  ASSIGN_OR_RETURN(const pg::Rows answer, session.Run(sql::kAdminRequestExpire, params));
  return answer.Int(0, 0);
}

absl::StatusOr<int64_t> ExpireSettled(pg::Session& session, int64_t lane, absl::Duration age,
                                      int rows) {
  return Expire(session, sql::kSettledExpire, lane, age, rows);
}

absl::StatusOr<int64_t> ExpireRequests(pg::Session& session, int64_t lane, absl::Duration age,
                                       int rows) {
  return Expire(session, sql::kEnqueueRequestExpire, lane, age, rows);
}

absl::StatusOr<ExpiredRequests> ExpireAnsweredRequests(pg::Session& session, int64_t first_page,
                                                       int64_t pages, absl::Duration age) {
  pg::Params params;
  params.Int8(first_page).Int8(pages).Int8(absl::ToInt64Microseconds(age));
  ASSIGN_OR_RETURN(const pg::Rows rows, session.Run(sql::kAnsweredRequestExpire, params));
  return ExpiredRequests{rows.Int(0, 0), rows.Int(0, 1)};
}

absl::StatusOr<int64_t> ExpireKeys(pg::Session& session, int64_t lane, int days, int rows) {
  pg::Params params;
  params.Int8(lane).Int4(days).Int4(rows);
  ASSIGN_OR_RETURN(const pg::Rows answer, session.Run(sql::kKeyExpire, params));
  return answer.Int(0, 0);
}

absl::Status ExpireStatistics(pg::Session& session, int64_t lane) {
  return session.Run(sql::kStatisticsExpire, pg::Params().Int8(lane)).status();
}

absl::Status ExpireMinutes(pg::Session& session, int64_t lane) {
  return session.Run(sql::kMinuteExpire, pg::Params().Int8(lane)).status();
}

absl::StatusOr<bool> DropPartition(pg::Session& session) {
  ASSIGN_OR_RETURN(const pg::Rows rows, session.Run(sql::kPartitionDrop, pg::Params()));
  return !rows.IsNull(0, 0);
}

absl::StatusOr<int64_t> ExpireDefaults(pg::Session& session, int rows) {
  ASSIGN_OR_RETURN(const pg::Rows answer,
                   session.Run(sql::kDefaultExpire, pg::Params().Int4(rows)));
  return answer.Int(0, 0);
}

absl::StatusOr<int64_t> MakePartitions(pg::Session& session, int days_ahead) {
  ASSIGN_OR_RETURN(const pg::Rows rows,
                   session.Run(sql::kPartitionMake, pg::Params().Int4(days_ahead)));
  return rows.Int(0, 0);
}

}  // namespace skiplane::store
