#include "server/broker/lease/probe_lane_stage.h"

#include <algorithm>

#include "server/base/status_macros.h"
#include "server/broker/schedule/belief.h"
#include "server/store/slice.h"

namespace skiplane::broker {
namespace {

constexpr int kSliceRows = 2000;
constexpr int kSlicesMax = 500;  // a million leased tasks before the first ready one

absl::Status ProbePriority(pg::Session& session, model::LaneStage lane_stage, store::Bound from,
                           ProbeResult& result) {
  for (int slices = 0; slices < kSlicesMax; ++slices) {
    ASSIGN_OR_RETURN(
        const store::Slice slice,
        store::ReadSlice(session, lane_stage.lane, lane_stage.stage, from, kSliceRows));
    result.has_packs = result.has_packs || slice.has_packs;
    if (slice.first_ready.has_value()) {
      result.first_ready.push_back(*slice.first_ready);
      const bool may_be_more = slice.seen == kSliceRows;
      result.ready =
          std::min(Belief::kPlenty, result.ready + (may_be_more ? Belief::kPlenty : slice.ready));
      return absl::OkStatus();
    }
    if (slice.seen < kSliceRows) return absl::OkStatus();
    from = *slice.last_seen;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ProbeResult> ProbeLaneStage(pg::Session& session, model::LaneStage lane_stage,
                                           const std::vector<store::Bound>& from) {
  ProbeResult result;
  for (const store::Bound& bound : from) {
    RETURN_IF_ERROR(ProbePriority(session, lane_stage, bound, result));
  }
  if (!from.empty()) return result;
  ASSIGN_OR_RETURN(const std::vector<store::PriorityView> views,
                   store::Priorities(session, lane_stage.lane, lane_stage.stage));
  for (const store::PriorityView& view : views) {
    result.priorities.push_back(view.priority);
    if (view.next_due_in.has_value()) {
      result.next_due_in = std::min(result.next_due_in.value_or(absl::InfiniteDuration()),
                                    *view.next_due_in);
    }
    const store::Bound start{view.priority, absl::InfinitePast(), 0};
    RETURN_IF_ERROR(ProbePriority(session, lane_stage, start, result));
  }
  return result;
}

}  // namespace skiplane::broker
