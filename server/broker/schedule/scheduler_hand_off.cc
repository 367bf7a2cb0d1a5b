#include <algorithm>
#include <utility>

#include "server/broker/schedule/scheduler.h"
#include "server/model/limits.h"

namespace skiplane::broker {
namespace {

using std::chrono::seconds;

// What is left of the time for which a lane stage is taken for empty when it is probed again: a
// task that comes without knowledge of that is not handed off, and where tasks come all the time
// there is no moment after it in which a probe could see nothing.
constexpr seconds kProbeAgain(1);

// Whether nothing that is ready is known or expected.
bool IsIdle(const LaneStageState& state, base::SteadyTime now) {
  const bool is_empty = state.belief.KindAt(now) == Belief::Kind::kEmpty ||
                        (state.knows_next_due && state.idle_until > now &&
                         state.belief.count() == 0);
  return is_empty && state.bounds.IsRead() && state.leases_running == 0;
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
  const bool may_probe = is_listening_ && state.probe_allowed <= step.now;
  if (may_probe && state.belief.empty_until() - step.now < kProbeAgain) Probe(state, step);
  const int64_t most = std::min<int64_t>(count, model::kBatchRowsMax);
  Dealt dealt = Deal(state, most, false, step.now);
  if (!dealt.callers.empty()) run = RunOf(state, std::move(dealt));
  run.kind = LeaseRun::Kind::kHandOff;
  return run;
}

}  // namespace skiplane::broker
