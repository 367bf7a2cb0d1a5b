#include "server/upkeep/hang_finder.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/base/log.h"
#include "server/base/status_macros.h"
#include "server/store/reclaim.h"
#include "server/upkeep/recovery.h"

namespace skiplane::upkeep {
namespace {

constexpr absl::Duration kLimit = absl::Milliseconds(300);
constexpr absl::Duration kOftenest = absl::Seconds(1);
constexpr absl::Duration kRarest = absl::Seconds(10);  // a new limit is noticed so late
constexpr int kLedgerRowsAtOnce = 1000;

absl::Duration ShortestLimit(const model::QueueSettings& settings) {
  absl::Duration shortest = settings.max_run_duration;
  for (int16_t stage = 0; stage < settings.StageCount(); ++stage) {
    shortest = std::min(shortest, settings.MaxRunDurationOf(stage));
  }
  return shortest;
}

}  // namespace

HangFinder::HangFinder(metrics::Metrics* metrics) : metrics_(metrics), round_(kLimit) {}

absl::StatusOr<HangResult> HangFinder::RunOnce(pg::Session& session) {
  HangResult result;
  const auto now = std::chrono::steady_clock::now();
  if (now < due_) return result;
  RETURN_IF_ERROR(owners_.Load(session));
  ASSIGN_OR_RETURN(const auto oldest, store::OldestLeases(session));
  absl::Duration shortest = model::kMaxRunDurationMax;
  for (const int64_t lane : owners_.Lanes()) {
    shortest = std::min(shortest, ShortestLimit(owners_.Find(lane)->settings));
  }
  std::vector<int64_t> lanes;
  for (const auto& [lane, age] : oldest) {
    const LaneOwner* const owner = owners_.Find(lane);
    if (owner != nullptr && age > ShortestLimit(owner->settings)) lanes.push_back(lane);
  }
  const absl::Status status = round_.Visit(
      session, std::move(lanes), [&](int64_t lane) { return VisitLane(session, lane, &result); });
  result.is_complete = round_.is_complete();
  if (result.is_complete) {
    due_ = now + absl::ToChronoNanoseconds(
                     std::clamp(shortest / 10, kOftenest, kRarest) - absl::Milliseconds(100));
  }
  if (!status.ok()) return status;
  return result;
}

absl::StatusOr<bool> HangFinder::VisitLane(pg::Session& session, int64_t lane,
                                           HangResult* result) {
  const LaneOwner& owner = *owners_.Find(lane);
  bool found_rows = true;
  while (found_rows && !round_.is_over()) {
    ASSIGN_OR_RETURN(found_rows, Step(session, lane, owner, result));
  }
  if (!found_rows) after_.erase(lane);
  return !found_rows;
}

// Returns whether ledger rows may be left to be looked at.
absl::StatusOr<bool> HangFinder::Step(pg::Session& session, int64_t lane, const LaneOwner& owner,
                                      HangResult* result) {
  pg::Uuid& after = after_[lane];
  ASSIGN_OR_RETURN(
      const store::Reclaimed step,
      store::ReclaimHanged(session, lane, owner.settings, kLedgerRowsAtOnce, after));
  after = step.last;
  result->freed += step.freed;
  result->failed += step.failed;
  if (step.Attempts() > 0) {
    CountReclaimed(*metrics_, owner.queue, "hanged", step);
    base::Log(base::LogLevel::kWarn, "attempts_hanged",
              {{"queue", owner.queue}, {"tasks", absl::StrCat(step.Attempts())}});
  }
  RETURN_IF_ERROR(SendReclaimed(session, lane, step.unleased, step.ended));
  return step.found_rows;
}

}  // namespace skiplane::upkeep
