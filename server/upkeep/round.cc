#include "server/upkeep/round.h"

#include <algorithm>

namespace skiplane::upkeep {

absl::Status Round::Visit(pg::Session& session, std::vector<int64_t> lanes,
                          absl::FunctionRef<absl::StatusOr<bool>(int64_t lane)> visit) {
  started_ = std::chrono::steady_clock::now();
  std::sort(lanes.begin(), lanes.end());
  auto next = lanes.begin();
  if (resume_after_) next = std::upper_bound(lanes.begin(), lanes.end(), *resume_after_);
  if (next == lanes.end()) next = lanes.begin();
  if (next == lanes.begin()) has_left_work_ = false;
  resume_after_.reset();
  absl::Status first_error;
  while (next != lanes.end()) {
    const int64_t lane = *next++;
    const absl::StatusOr<bool> is_done = visit(lane);
    first_error.Update(is_done.status());
    if (is_done.ok() && !*is_done) has_left_work_ = true;
    if (!session.alive()) return first_error;
    if (next != lanes.end() && is_over()) {
      resume_after_ = lane;
      break;
    }
  }
  return first_error;
}

bool Round::is_over() const {
  return absl::FromChrono(std::chrono::steady_clock::now() - started_) >= limit_;
}

}  // namespace skiplane::upkeep
