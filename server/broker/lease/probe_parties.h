// Whose turns probes take at the pool: those of a lane their own, but all that are slow, as where a
// lane has tens of thousands of priorities, those of one party, so that others wait for one of them
// at most. Thread-safe.
#pragma once

#include <chrono>
#include <string>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "server/base/mutex.h"
#include "server/model/lane_stage.h"

namespace skiplane::broker {

class ProbeParties {
 public:
  std::string PartyOf(model::LaneStage lane_stage) const {
    base::MutexLock lock(mutex_);
    return slow_.contains(lane_stage) ? "slow probes" : absl::StrCat(lane_stage.lane);
  }

  // How long the last one took.
  void Note(model::LaneStage lane_stage, std::chrono::nanoseconds took) {
    base::MutexLock lock(mutex_);
    if (took <= kSlow) {
      slow_.erase(lane_stage);
    } else {
      if (slow_.size() >= kSlowMax) slow_.clear();
      slow_.insert(lane_stage);
    }
  }

 private:
  static constexpr std::chrono::seconds kSlow{1};
  static constexpr size_t kSlowMax = 10000;

  mutable base::Mutex mutex_;
  absl::flat_hash_set<model::LaneStage> slow_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace skiplane::broker
