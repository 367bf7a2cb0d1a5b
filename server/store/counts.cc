#include "server/store/counts.h"

#include "server/base/status_macros.h"
#include "server/sql/queries.h"

namespace skiplane::store {

absl::StatusOr<Counts> ReadCounts(pg::Session& session) {
  ASSIGN_OR_RETURN(const pg::Rows rows, session.Run(sql::kCounterRead, pg::Params()));
  Counts counts;
  for (int row = 0; row < rows.size(); ++row) {
    model::QueueCounts& lane = counts[{rows.Int(row, 0), static_cast<int16_t>(rows.Int(row, 1))}];
    if (!rows.IsNull(row, 2)) lane.scheduled = rows.Int(row, 2);
    if (!rows.IsNull(row, 3)) lane.ready = rows.Int(row, 3);
    lane.leased = rows.Int(row, 4);
    lane.succeeded = rows.Int(row, 5);
    lane.failed = rows.Int(row, 6);
    lane.cancelled = rows.Int(row, 7);
    lane.moved = rows.Int(row, 8);
  }
  return counts;
}

absl::StatusOr<std::vector<int64_t>> LanesWithDeltas(pg::Session& session, int least) {
  ASSIGN_OR_RETURN(const pg::Rows rows, session.Run(sql::kCounterLanes, pg::Params().Int4(least)));
  std::vector<int64_t> lanes;
  for (int row = 0; row < rows.size(); ++row) lanes.push_back(rows.Int(row, 0));
  return lanes;
}

absl::StatusOr<int64_t> FoldCounts(pg::Session& session, int64_t lane, int rows) {
  ASSIGN_OR_RETURN(const pg::Rows answer,
                   session.Run(sql::kCounterFold, pg::Params().Int8(lane).Int4(rows)));
  return answer.Int(0, 0);
}

absl::StatusOr<std::vector<int64_t>> LanesWithErrorDeltas(pg::Session& session) {
  ASSIGN_OR_RETURN(const pg::Rows rows, session.Run(sql::kErrorLanes, pg::Params()));
  std::vector<int64_t> lanes;
  for (int row = 0; row < rows.size(); ++row) lanes.push_back(rows.Int(row, 0));
  return lanes;
}

absl::StatusOr<int64_t> FoldErrors(pg::Session& session, int64_t lane, int rows) {
  ASSIGN_OR_RETURN(const pg::Rows answer,
                   session.Run(sql::kErrorFold, pg::Params().Int8(lane).Int4(rows)));
  return answer.Int(0, 0);
}

absl::Status CleanCounts(pg::Session& session, int64_t lane) {
  return session.Run(sql::kCounterClean, pg::Params().Int8(lane)).status();
}

}  // namespace skiplane::store
