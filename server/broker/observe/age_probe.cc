#include "server/broker/observe/age_probe.h"

#include <algorithm>
#include <utility>

#include "server/store/slice.h"

namespace skiplane::broker {
namespace {

constexpr int kRows = 2000;

}  // namespace

absl::Duration OldestReadyAge(pg::Session& session, model::LaneStage lane_stage,
                              base::SteadyTime end) {
  absl::Duration oldest;
  const auto priorities = store::Priorities(session, lane_stage.lane, lane_stage.stage);
  if (!priorities.ok()) return oldest;
  for (const store::PriorityView& view : *priorities) {
    const store::Bound start{view.priority, absl::InfinitePast(), 0};
    const auto slice = store::ReadSlice(session, lane_stage.lane, lane_stage.stage, start, kRows);
    if (slice.ok()) oldest = std::max(oldest, slice->oldest_age);
    if (std::chrono::steady_clock::now() > end) break;
  }
  return oldest;
}

void AgeProbe::Run(pg::Session& session, const std::vector<model::LaneStage>& lane_stages) {
  const base::SteadyTime began = std::chrono::steady_clock::now();
  decltype(ages_) kept;
  for (const model::LaneStage lane_stage : lane_stages) kept[lane_stage] = AgeOf(lane_stage);
  ages_ = std::move(kept);
  if (began < allowed_) return;
  std::vector<model::LaneStage> turn = lane_stages;
  std::rotate(turn.begin(), std::upper_bound(turn.begin(), turn.end(), last_), turn.end());
  base::SteadyTime ended = began;
  for (const model::LaneStage lane_stage : turn) {
    ages_[lane_stage] = OldestReadyAge(session, lane_stage, began + most_);
    last_ = lane_stage;
    ended = std::chrono::steady_clock::now();
    if (ended - began > most_) break;
  }
  allowed_ = ended + share_ * (ended - began);
}

absl::Duration AgeProbe::AgeOf(model::LaneStage lane_stage) const {
  const auto found = ages_.find(lane_stage);
  return found == ages_.end() ? absl::ZeroDuration() : found->second;
}

}  // namespace skiplane::broker
