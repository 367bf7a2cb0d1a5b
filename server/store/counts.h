// The exact counters: read in one snapshot, folded by upkeep.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/model/lane_stage.h"
#include "server/model/queue.h"
#include "server/pg/session.h"

namespace skiplane::store {

// By lane and stage; where nothing ever happened is missing.
using Counts = absl::flat_hash_map<model::LaneStage, model::QueueCounts>;
absl::StatusOr<Counts> ReadCounts(pg::Session& session);
// Of these lanes only.
absl::StatusOr<Counts> ReadCounts(pg::Session& session, const std::vector<int64_t>& lanes);

// Of all lanes and stages of a queue.
model::QueueCounts SumOf(const Counts& counts, const model::Queue& queue);

// Of one queue, by its lanes: the tasks that are not finished, and the bytes of their payloads and
// headers. The second reads all of them.
absl::StatusOr<int64_t> CountUnfinished(pg::Session& session, const std::vector<int64_t>& lanes);
absl::StatusOr<int64_t> MeasureBytes(pg::Session& session, const std::vector<int64_t>& lanes);

// How long the oldest running attempt of each lane runs; lanes without one are missing.
absl::StatusOr<absl::flat_hash_map<int64_t, absl::Duration>> OldestAttempts(pg::Session& session);

// Failed tasks that are kept, by lane; lanes without any are missing.
absl::StatusOr<absl::flat_hash_map<int64_t, int64_t>> CountFailed(pg::Session& session);

// Lanes in which attempts ended in the last seven days.
absl::StatusOr<absl::flat_hash_set<int64_t>> ActiveLanes(pg::Session& session);

// Lanes with `least` deltas or more to fold.
absl::StatusOr<std::vector<int64_t>> LanesWithDeltas(pg::Session& session, int least);

// Returns how many deltas of the lane were folded, at most `rows`.
absl::StatusOr<int64_t> FoldCounts(pg::Session& session, int64_t lane, int rows);

// The same for error groups.
absl::StatusOr<std::vector<int64_t>> LanesWithErrorDeltas(pg::Session& session);
// Lanes with groups that CleanErrors would remove for their age.
absl::StatusOr<std::vector<int64_t>> LanesWithIdleErrors(pg::Session& session);
absl::StatusOr<int64_t> FoldErrors(pg::Session& session, int64_t lane, int rows);

// Removes error groups without tasks in which nothing failed for a week, and those beyond the ten
// thousand of the lane that failed last. Returns how many, at most `rows`.
absl::StatusOr<int64_t> CleanErrors(pg::Session& session, int64_t lane, int rows);

// Removes counters of due times at which nothing waits any more.
absl::Status CleanCounts(pg::Session& session, int64_t lane);

}  // namespace skiplane::store
