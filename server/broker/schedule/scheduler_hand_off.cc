#include <algorithm>
#include <utility>

#include "server/broker/schedule/scheduler.h"
#include "server/model/limits.h"

namespace skiplane::broker {
namespace {

// Whether nothing that is ready is known or expected, and nobody is asking.
bool IsIdle(const LaneStageState& state, base::SteadyTime now) {
  const bool is_empty =
      state.bounds.IsRead() && state.belief.KindAt(now) == Belief::Kind::kEmpty;
  return is_empty && state.leases_running == 0 && !state.is_probing;
}

}  // namespace

LeaseRun Scheduler::HandOff(model::LaneStage lane_stage, int64_t count, Step& step) {
  LeaseRun run;
  run.lane_stage = lane_stage;
  const auto found = states_.find(lane_stage);
  if (found == states_.end() || full_.for_all || is_draining_) return run;
  LaneStageState& state = *found->second;
  state.Due(step.now);
  if (state.queue->LeasesPaused() || !IsIdle(state, step.now)) return run;
  Dealt dealt = Deal(state, std::min<int64_t>(count, model::kBatchRowsMax), step.now);
  if (!dealt.callers.empty()) run = RunOf(state, std::move(dealt));
  run.kind = LeaseRun::Kind::kHandOff;
  return run;
}

}  // namespace skiplane::broker
