#include "server/broker/age_probe.h"

#include <algorithm>
#include <utility>

#include "server/store/sweep.h"

namespace skiplane::broker {
namespace {

constexpr int kRows = 2000;

absl::Duration OldestAge(pg::Session& session, int64_t lane) {
  absl::Duration oldest;
  const auto priorities = store::Priorities(session, lane, 0);
  if (!priorities.ok()) return oldest;
  for (const store::PriorityView& view : *priorities) {
    const store::Bound start{view.priority, absl::InfinitePast(), 0};
    const auto slice = store::Sweep(session, lane, 0, start, kRows);
    if (slice.ok()) oldest = std::max(oldest, slice->oldest_age);
  }
  return oldest;
}

}  // namespace

void AgeProbe::Run(pg::Session& session, const std::vector<int64_t>& lanes) {
  const base::SteadyTime began = std::chrono::steady_clock::now();
  decltype(ages_) kept;
  for (const int64_t lane : lanes) kept[lane] = AgeOf(lane);
  ages_ = std::move(kept);
  if (began < allowed_) return;
  std::vector<int64_t> turn = lanes;
  std::rotate(turn.begin(), std::upper_bound(turn.begin(), turn.end(), last_), turn.end());
  base::SteadyTime ended = began;
  for (const int64_t lane : turn) {
    ages_[lane] = OldestAge(session, lane);
    last_ = lane;
    ended = std::chrono::steady_clock::now();
    if (ended - began > most_) break;
  }
  allowed_ = ended + share_ * (ended - began);
}

absl::Duration AgeProbe::AgeOf(int64_t lane) const {
  const auto found = ages_.find(lane);
  return found == ages_.end() ? absl::ZeroDuration() : found->second;
}

}  // namespace skiplane::broker
