#include "server/broker/lease/look.h"

#include <algorithm>

#include "server/base/status_macros.h"
#include "server/broker/lease/lane.h"
#include "server/store/sweep.h"

namespace skiplane::broker {
namespace {

constexpr int kSliceRows = 2000;
constexpr int kSlicesMax = 500;  // a million leased tasks before the first free one

absl::Status LookAtPriority(pg::Session& session, int64_t lane, int16_t stage, int16_t priority,
                            LookResult& result) {
  store::Bound from{priority, absl::InfinitePast(), 0};
  for (int slices = 0; slices < kSlicesMax; ++slices) {
    ASSIGN_OR_RETURN(const store::Slice slice,
                     store::Sweep(session, lane, stage, from, kSliceRows));
    if (slice.first_free.has_value()) {
      result.first_free.push_back(*slice.first_free);
      const bool may_be_more = slice.seen == kSliceRows;
      result.free = std::min(Lane::kMany, result.free + (may_be_more ? Lane::kMany : slice.free));
      return absl::OkStatus();
    }
    if (slice.seen < kSliceRows) return absl::OkStatus();
    from = *slice.last_seen;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<LookResult> Look(pg::Session& session, int64_t lane, int16_t stage) {
  ASSIGN_OR_RETURN(const std::vector<store::PriorityView> views,
                   store::Priorities(session, lane, stage));
  LookResult result;
  for (const store::PriorityView& view : views) {
    result.priorities.push_back(view.priority);
    if (view.next_due_in.has_value()) {
      result.next_due_in = std::min(result.next_due_in.value_or(absl::InfiniteDuration()),
                                    *view.next_due_in);
    }
    RETURN_IF_ERROR(LookAtPriority(session, lane, stage, view.priority, result));
  }
  return result;
}

}  // namespace skiplane::broker
