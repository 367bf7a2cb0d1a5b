// What the database's clock breaks by going back, and the chore that mends it: sessions would live,
// and tasks that were due would wait, until the clock has caught up.
//
// A step is noted once, in the database, so that another broker goes on with it. Tasks are made due
// again lane by lane, in bounded steps. Not thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/metrics/metrics.h"
#include "server/model/lane_stage.h"
#include "server/pg/session.h"
#include "server/store/clock.h"
#include "server/store/peers.h"
#include "server/upkeep/lane_owners.h"
#include "server/upkeep/round.h"

namespace skiplane::upkeep {

struct MendResult {
  int64_t tasks = 0;
  bool is_complete = true;
};

class ClockMender {
 public:
  // `metrics` outlives the object.
  ClockMender(const pg::Uuid& broker_id, metrics::Metrics* metrics);

  // To be called with each answer about the lead, before the dead are looked for: notes, logs and
  // counts a step. Costs a statement only after one. Returns whether there was one.
  absl::StatusOr<bool> Watch(pg::Session& session, const store::Lead& lead);

  // Mends the sessions, then tasks for a while.
  absl::StatusOr<MendResult> RunOnce(pg::Session& session);

 private:
  absl::StatusOr<bool> VisitLane(pg::Session& session, int64_t lane, MendResult* result);
  absl::StatusOr<bool> MendPriority(pg::Session& session, const model::LaneStage& place,
                                    int16_t priority, MendResult* result);

  pg::Uuid broker_id_;
  metrics::Metrics* metrics_;
  LaneOwners owners_;
  Round round_;
  std::optional<std::chrono::steady_clock::time_point> watched_;  // last, as the leader
  std::optional<store::ClockStep> step_;                          // that is being mended
  int64_t sessions_ = 0;  // that were mended for it
  int64_t tasks_ = 0;
};

}  // namespace skiplane::upkeep
