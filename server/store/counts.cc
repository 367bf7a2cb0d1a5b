#include "server/store/counts.h"

#include "server/base/status_macros.h"
#include "server/sql/queries.h"

namespace skiplane::store {

absl::StatusOr<absl::flat_hash_map<int64_t, model::QueueCounts>> ReadCounts(pg::Session& session) {
  ASSIGN_OR_RETURN(const pg::Rows rows, session.Run(sql::kCounterRead, pg::Params()));
  absl::flat_hash_map<int64_t, model::QueueCounts> counts;
  for (int row = 0; row < rows.size(); ++row) {
    model::QueueCounts& lane = counts[rows.Int(row, 0)];
    if (!rows.IsNull(row, 1)) lane.scheduled = rows.Int(row, 1);
    if (!rows.IsNull(row, 2)) lane.ready = rows.Int(row, 2);
    lane.leased = rows.Int(row, 3);
    lane.succeeded = rows.Int(row, 4);
    lane.failed = rows.Int(row, 5);
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

absl::Status CleanCounts(pg::Session& session, int64_t lane) {
  return session.Run(sql::kCounterClean, pg::Params().Int8(lane)).status();
}

}  // namespace skiplane::store
