// Takes back the leases of worker sessions that are lost or ended, lane by lane, and notifies all
// brokers of the tasks that are ready again.
//
// Attempts of lost sessions, and of those without a row, are charged: a task whose attempt was its
// last ends as failed. Attempts of sessions that their worker ended are not. Safe beside acks of
// the same leases and beside another recovery of the same sessions: each task is taken back once.
// Not thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "server/metrics/metrics.h"
#include "server/pg/session.h"
#include "server/store/reclaim.h"
#include "server/upkeep/lane_owners.h"
#include "server/upkeep/round.h"

namespace skiplane::upkeep {

struct Recovered {
  int64_t freed = 0;
  int64_t failed = 0;
  absl::flat_hash_set<pg::Uuid> sessions;  // that held a task
  bool is_complete = true;   // else call again soon
  absl::Status first_error;  // of a lane; the other lanes were recovered nonetheless
};

// Tells all brokers, this one included, which tasks are ready again.
absl::Status SendNotifications(pg::Session& session,
                               const std::vector<store::UnleasedTasks>& unleased);

// Tells them of what was taken back in a lane: of tasks that are ready again, and, even if that
// fails, of those that have ended, as calls may wait for that. The first error.
absl::Status SendReclaimed(pg::Session& session, int64_t lane,
                           const std::vector<store::UnleasedTasks>& unleased,
                           absl::Span<const int64_t> ended);

// Counts a step's attempts, which ended as `outcome`, and the tasks that ended with them.
void CountReclaimed(metrics::Metrics& metrics, const std::string& queue, const char* outcome,
                    const store::Reclaimed& step);

class Recovery {
 public:
  // `as` says what kind of sessions: kLost or kRelease. Begins no further lane after `limit`.
  // `metrics` outlives the object.
  Recovery(absl::Duration limit, metrics::Metrics* metrics,
           store::Action as = store::Action::kLost)
      : as_(as), metrics_(metrics), round_(limit) {}

  // An error says that nothing was done.
  absl::StatusOr<Recovered> Recover(pg::Session& session, absl::Span<const pg::Uuid> sessions);

 private:
  // Returns whether the lane holds nothing of the sessions any more.
  absl::StatusOr<bool> RecoverLane(pg::Session& session, int64_t lane,
                                   absl::Span<const pg::Uuid> sessions, Recovered* total);
  absl::StatusOr<store::Reclaimed> ReclaimStep(pg::Session& session, int64_t lane,
                                               absl::Span<const pg::Uuid> sessions) const;
  void Count(int64_t lane, const store::Reclaimed& step) const;

  const store::Action as_;
  metrics::Metrics* metrics_;
  const LaneOwner unknown_;  // of a lane whose queue is not known
  LaneOwners owners_;
  Round round_;
};

}  // namespace skiplane::upkeep
