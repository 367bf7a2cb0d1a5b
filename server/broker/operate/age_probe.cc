#include "server/broker/operate/age_probe.h"

#include <algorithm>
#include <utility>

#include "server/store/sweep.h"

namespace skiplane::broker {
namespace {

constexpr int kRows = 2000;

}  // namespace

absl::Duration OldestReadyAge(pg::Session& session, model::LaneStage place) {
  absl::Duration oldest;
  const auto priorities = store::Priorities(session, place.lane, place.stage);
  if (!priorities.ok()) return oldest;
  for (const store::PriorityView& view : *priorities) {
    const store::Bound start{view.priority, absl::InfinitePast(), 0};
    const auto slice = store::Sweep(session, place.lane, place.stage, start, kRows);
    if (slice.ok()) oldest = std::max(oldest, slice->oldest_age);
  }
  return oldest;
}

void AgeProbe::Run(pg::Session& session, const std::vector<model::LaneStage>& places) {
  const base::SteadyTime began = std::chrono::steady_clock::now();
  decltype(ages_) kept;
  for (const model::LaneStage place : places) kept[place] = AgeOf(place);
  ages_ = std::move(kept);
  if (began < allowed_) return;
  std::vector<model::LaneStage> turn = places;
  std::rotate(turn.begin(), std::upper_bound(turn.begin(), turn.end(), last_), turn.end());
  base::SteadyTime ended = began;
  for (const model::LaneStage place : turn) {
    ages_[place] = OldestReadyAge(session, place);
    last_ = place;
    ended = std::chrono::steady_clock::now();
    if (ended - began > most_) break;
  }
  allowed_ = ended + share_ * (ended - began);
}

absl::Duration AgeProbe::AgeOf(model::LaneStage place) const {
  const auto found = ages_.find(place);
  return found == ages_.end() ? absl::ZeroDuration() : found->second;
}

}  // namespace skiplane::broker
