#include "server/store/counts.h"

#include <algorithm>

#include "server/base/status_macros.h"
#include "server/sql/queries.h"

namespace skiplane::store {

namespace {

Counts CountsOf(const pg::Rows& rows) {
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

std::vector<int64_t> FirstColumn(const pg::Rows& rows) {
  std::vector<int64_t> numbers;
  for (int row = 0; row < rows.size(); ++row) numbers.push_back(rows.Int(row, 0));
  return numbers;
}

}  // namespace

absl::StatusOr<Counts> ReadCounts(pg::Session& session) {
  ASSIGN_OR_RETURN(const pg::Rows rows, session.Run(sql::kCounterRead, pg::Params()));
  return CountsOf(rows);
}

absl::StatusOr<Counts> ReadCounts(pg::Session& session, const std::vector<int64_t>& lanes) {
  ASSIGN_OR_RETURN(const pg::Rows rows,
                   session.Run(sql::kCounterList, pg::Params().Int8Array(lanes)));
  return CountsOf(rows);
}

model::QueueCounts SumOf(const Counts& counts, const model::Queue& queue) {
  model::QueueCounts sum;
  for (const int64_t lane : queue.lanes) {
    for (int16_t stage = 0; stage < queue.settings.StageCount(); ++stage) {
      if (const auto found = counts.find({lane, stage}); found != counts.end()) {
        sum += found->second;
      }
    }
  }
  return sum;
}

absl::StatusOr<int64_t> CountUnfinished(pg::Session& session, const std::vector<int64_t>& lanes) {
  ASSIGN_OR_RETURN(const pg::Rows rows,
                   session.Run(sql::kQueueDepth, pg::Params().Int8Array(lanes)));
  return rows.Int(0, 0);
}

absl::StatusOr<int64_t> MeasureBytes(pg::Session& session, const std::vector<int64_t>& lanes) {
  ASSIGN_OR_RETURN(const pg::Rows rows,
                   session.Run(sql::kQueueBytes, pg::Params().Int8Array(lanes)));
  return rows.Int(0, 0);
}

absl::StatusOr<absl::flat_hash_map<int64_t, absl::Duration>> OldestAttempts(pg::Session& session) {
  ASSIGN_OR_RETURN(const pg::Rows rows, session.Run(sql::kAttemptOldest, pg::Params()));
  absl::flat_hash_map<int64_t, absl::Duration> ages;
  for (int row = 0; row < rows.size(); ++row) {
    // A lease number may be a little more than the time.
    ages[rows.Int(row, 0)] =
        std::max(absl::ZeroDuration(), absl::Microseconds(rows.Int(row, 1)));
  }
  return ages;
}

absl::StatusOr<absl::flat_hash_map<int64_t, int64_t>> CountFailed(pg::Session& session) {
  ASSIGN_OR_RETURN(const pg::Rows rows, session.Run(sql::kFailedCount, pg::Params()));
  absl::flat_hash_map<int64_t, int64_t> tasks;
  for (int row = 0; row < rows.size(); ++row) tasks[rows.Int(row, 0)] = rows.Int(row, 1);
  return tasks;
}

absl::StatusOr<absl::flat_hash_set<int64_t>> ActiveLanes(pg::Session& session) {
  ASSIGN_OR_RETURN(const pg::Rows rows, session.Run(sql::kLaneActive, pg::Params()));
  absl::flat_hash_set<int64_t> lanes;
  for (int row = 0; row < rows.size(); ++row) lanes.insert(rows.Int(row, 0));
  return lanes;
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
  return FirstColumn(rows);
}

absl::StatusOr<std::vector<int64_t>> LanesWithIdleErrors(pg::Session& session) {
  ASSIGN_OR_RETURN(const pg::Rows rows, session.Run(sql::kErrorIdleLanes, pg::Params()));
  return FirstColumn(rows);
}

absl::StatusOr<int64_t> FoldErrors(pg::Session& session, int64_t lane, int rows) {
  ASSIGN_OR_RETURN(const pg::Rows answer,
                   session.Run(sql::kErrorFold, pg::Params().Int8(lane).Int4(rows)));
  return answer.Int(0, 0);
}

absl::StatusOr<int64_t> CleanErrors(pg::Session& session, int64_t lane, int rows) {
  ASSIGN_OR_RETURN(const pg::Rows answer,
                   session.Run(sql::kErrorClean, pg::Params().Int8(lane).Int4(rows)));
  return answer.Int(0, 0);
}

absl::Status CleanCounts(pg::Session& session, int64_t lane) {
  return session.Run(sql::kCounterClean, pg::Params().Int8(lane)).status();
}

}  // namespace skiplane::store
