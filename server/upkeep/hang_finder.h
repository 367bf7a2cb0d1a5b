// Takes back attempts that run longer than their stage allows, even if their workers send
// heartbeats: the error is HANGED. It looks at a tenth of the shortest limit of all queues, at most
// every second and at least every ten seconds. Not thread-safe.
#pragma once

#include <chrono>
#include <cstdint>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "server/metrics/metrics.h"
#include "server/pg/session.h"
#include "server/upkeep/lane_owners.h"
#include "server/upkeep/round.h"

namespace skiplane::upkeep {

struct HangResult {
  int64_t freed = 0;
  int64_t failed = 0;
  bool is_complete = true;
};

class HangFinder {
 public:
  // `metrics` outlives the object.
  explicit HangFinder(metrics::Metrics* metrics);

  // The first error, when all that it does not concern has been done. Returns at once while the
  // next look is not due.
  absl::StatusOr<HangResult> RunOnce(pg::Session& session);

 private:
  absl::StatusOr<bool> VisitLane(pg::Session& session, int64_t lane, HangResult* result);
  absl::StatusOr<bool> Step(pg::Session& session, int64_t lane, const LaneOwner& owner,
                            HangResult* result);

  metrics::Metrics* metrics_;
  LaneOwners owners_;
  Round round_;
  absl::flat_hash_map<int64_t, pg::Uuid> after_;  // ledger row, by lane that is left so far
  std::chrono::steady_clock::time_point due_{};
};

}  // namespace skiplane::upkeep
