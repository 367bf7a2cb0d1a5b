#include "server/upkeep/lane_cleaner.h"

#include <utility>
#include <vector>

namespace skiplane::upkeep {

void LaneCleaner::Note(int64_t lane) {
  due_.try_emplace(lane, std::chrono::steady_clock::now() + absl::ToChronoNanoseconds(after_));
}

absl::Status LaneCleaner::Visit(pg::Session& session,
                                absl::FunctionRef<absl::StatusOr<bool>(int64_t lane)> clean) {
  const SteadyTime now = std::chrono::steady_clock::now();
  std::vector<int64_t> lanes;
  for (const auto& [lane, due] : due_) {
    if (due <= now) lanes.push_back(lane);
  }
  return round_.Visit(session, std::move(lanes), [&](int64_t lane) -> absl::StatusOr<bool> {
    const absl::StatusOr<bool> is_done = clean(lane);
    if (is_done.ok() && !*is_done) return false;
    due_.erase(lane);
    if (!is_done.ok()) Note(lane);
    return is_done;
  });
}

}  // namespace skiplane::upkeep
