#include "server/upkeep/clock_mender.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/base/log.h"
#include "server/base/status_macros.h"
#include "server/store/sweep.h"
#include "server/upkeep/recovery.h"

namespace skiplane::upkeep {
namespace {

// Less is within what clocks are slewed by, and passes by itself.
constexpr absl::Duration kLeastStep = absl::Seconds(1);
constexpr absl::Duration kLimit = absl::Milliseconds(300);
constexpr int kRowsAtOnce = 1000;

std::string SizeText(const store::ClockStep& step) {
  return absl::FormatDuration(absl::Trunc(step.Back(), absl::Milliseconds(1)));
}

}  // namespace

ClockMender::ClockMender(const pg::Uuid& broker_id, metrics::Metrics* metrics)
    : broker_id_(broker_id), metrics_(metrics), round_(kLimit) {}

absl::StatusOr<bool> ClockMender::Watch(pg::Session& session, const store::Lead& lead) {
  if (!lead.is_leader) watched_.reset();
  if (!lead.is_leader) return false;
  const auto now = std::chrono::steady_clock::now();
  const auto before = std::exchange(watched_, now);
  if (!lead.reclaimed_ago.has_value() || *lead.reclaimed_ago > -kLeastStep) return false;
  const absl::Duration elapsed = absl::FromChrono(now - before.value_or(now));
  ASSIGN_OR_RETURN(const auto step,
                   store::NoteClockStep(session, broker_id_, kLeastStep, elapsed));
  if (!step.has_value()) return false;
  metrics_->ClockStep(step->Back());
  base::Log(base::LogLevel::kWarn, "clock_went_back",
            {{"by", SizeText(*step)},
             {"from", absl::FormatTime(step->was_at, absl::UTCTimeZone())},
             {"to", absl::FormatTime(step->seen_at, absl::UTCTimeZone())}});
  return true;
}

absl::StatusOr<MendResult> ClockMender::RunOnce(pg::Session& session) {
  MendResult result;
  if (!step_.has_value()) {
    ASSIGN_OR_RETURN(const auto step, store::FindOpenClockStep(session));
    if (!step.has_value()) return result;
    ASSIGN_OR_RETURN(sessions_, store::MendSessions(session, *step));
    step_ = step;
    tasks_ = 0;
  }
  RETURN_IF_ERROR(owners_.Load(session));
  const absl::Status status = round_.Visit(
      session, owners_.Lanes(), [&](int64_t lane) { return VisitLane(session, lane, &result); });
  tasks_ += result.tasks;
  RETURN_IF_ERROR(status);
  result.is_complete = false;  // there may be another step
  if (!round_.is_complete()) return result;
  RETURN_IF_ERROR(store::CloseClockStep(session, *step_));
  base::Log(base::LogLevel::kInfo, "clock_mended",
            {{"by", SizeText(*step_)},
             {"sessions", absl::StrCat(sessions_)},
             {"tasks_made_due", absl::StrCat(tasks_)}});
  step_.reset();
  return result;
}

absl::StatusOr<bool> ClockMender::VisitLane(pg::Session& session, int64_t lane,
                                            MendResult* result) {
  const LaneOwner& owner = *owners_.Find(lane);
  for (int16_t stage = 0; stage < owner.settings.StageCount(); ++stage) {
    ASSIGN_OR_RETURN(const auto priorities, store::Priorities(session, lane, stage));
    for (const store::PriorityView& view : priorities) {
      if (!view.next_due_in.has_value()) continue;
      ASSIGN_OR_RETURN(const bool is_done,
                       MendPriority(session, {lane, stage}, view.priority, result));
      if (!is_done) return false;
    }
  }
  return true;
}

absl::StatusOr<bool> ClockMender::MendPriority(pg::Session& session, const model::LaneStage& place,
                                               int16_t priority, MendResult* result) {
  int64_t all = 0;
  int64_t mended = kRowsAtOnce;
  while (mended >= kRowsAtOnce && !round_.is_over()) {
    ASSIGN_OR_RETURN(mended, store::MendTasks(session, *step_, place.lane, place.stage, priority,
                                              kRowsAtOnce));
    all += mended;
  }
  result->tasks += all;
  if (all > 0) {
    store::Claimable due{place.lane, place.stage, priority, true, all, step_->seen_at};
    RETURN_IF_ERROR(SendHints(session, {due}));
  }
  return mended < kRowsAtOnce;
}

}  // namespace skiplane::upkeep
