// For how long the oldest ready task of each stage of each lane has been due, as far as the first
// 2,000 rows of each priority tell.
//
// Within 2 % of a core: with very many lanes, or an old transaction that keeps dead rows in the
// way, ages are renewed less often. Not thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "server/base/timer.h"
#include "server/broker/schedule/probe_budget.h"
#include "server/model/lane_stage.h"
#include "server/pg/session.h"

namespace skiplane::broker {

// For one stage of a lane; zero if nothing is ready, or the database cannot be asked. After `end`
// no more priorities are looked at, since a lane may have 65,536.
absl::Duration OldestReadyAge(pg::Session& session, model::LaneStage lane_stage,
                              base::SteadyTime end);

class AgeProbe {
 public:
  // After `most` the other lanes wait for the next run, and that for `share` times what this took.
  explicit AgeProbe(std::chrono::nanoseconds most = std::chrono::milliseconds(100),
                    int share = ProbeBudget::kShare)
      : most_(most), share_(share) {}

  // Renews the ages of some of these lane stages, of all if time allows. They ascend.
  void Run(pg::Session& session, const std::vector<model::LaneStage>& lane_stages);

  // As last read; zero for a lane stage not among those of the last run, or not yet read.
  absl::Duration AgeOf(model::LaneStage lane_stage) const;

 private:
  const std::chrono::nanoseconds most_;
  const int share_;
  absl::flat_hash_map<model::LaneStage, absl::Duration> ages_;
  model::LaneStage last_;  // at which the last run ended
  base::SteadyTime allowed_{};
};

}  // namespace skiplane::broker
