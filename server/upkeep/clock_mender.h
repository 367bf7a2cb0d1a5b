// Repairs what a database clock that goes back breaks: sessions would last, and tasks that were due
// would wait, until the clock has caught up.
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
  using SteadyTime = std::chrono::steady_clock::time_point;

  // A step is open until nothing has been found for `quiet_time`. `metrics` outlives the object.
  ClockMender(const pg::Uuid& broker_id, metrics::Metrics* metrics,
              absl::Duration quiet_time = absl::Seconds(15));

  // To be called with each answer about the lead, before lost sessions are looked for: notes, logs
  // and counts a step, and mends the sessions. `marked_at`: when this broker last noted that it had
  // looked for lost ones. Costs a statement only after a step. Returns whether there was one.
  absl::StatusOr<bool> Watch(pg::Session& session, const store::Lead& lead,
                             std::optional<SteadyTime> marked_at = std::nullopt);

  // Mends what is left of the sessions, then tasks for a while.
  absl::StatusOr<MendResult> RunOnce(pg::Session& session);

 private:
  void Begin(const store::ClockStep& step);
  absl::Status MendSessions(pg::Session& session, const store::ClockStep& step);
  absl::StatusOr<bool> EndRound(pg::Session& session);
  absl::StatusOr<bool> VisitLane(pg::Session& session, int64_t lane, MendResult* result);
  absl::StatusOr<bool> MendPriority(pg::Session& session, const model::LaneStage& lane_stage,
                                    int16_t priority, MendResult* result);

  pg::Uuid broker_id_;
  metrics::Metrics* metrics_;
  const absl::Duration quiet_time_;
  LaneOwners owners_;
  Round round_;
  std::optional<store::ClockStep> step_;  // that is being mended
  int64_t sessions_ = 0;                  // that were mended and not logged yet
  int64_t found_ = 0;                     // tasks, in this round
  std::optional<SteadyTime> quiet_since_;
};

}  // namespace skiplane::upkeep
