#include "server/upkeep/clock_mender.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/base/log.h"
#include "server/base/status_macros.h"
#include "server/store/slice.h"
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

ClockMender::ClockMender(const pg::Uuid& broker_id, metrics::Metrics* metrics,
                         absl::Duration quiet_time)
    : broker_id_(broker_id), metrics_(metrics), quiet_time_(quiet_time), round_(kLimit) {}

absl::StatusOr<bool> ClockMender::Watch(pg::Session& session, const store::Lead& lead,
                                        std::optional<SteadyTime> marked_at) {
  // Another leader may have done anything by the time this one leads again.
  if (!lead.is_leader) step_.reset();
  if (!lead.is_leader) return false;
  const SteadyTime now = std::chrono::steady_clock::now();
  if (!lead.reclaimed_ago.has_value() || *lead.reclaimed_ago > -kLeastStep) return false;
  const absl::Duration elapsed = absl::FromChrono(now - marked_at.value_or(now));
  ASSIGN_OR_RETURN(const auto step,
                   store::NoteClockStep(session, broker_id_, kLeastStep, elapsed));
  if (!step.has_value()) return false;
  metrics_->ClockStep(step->Back());
  base::Log(base::LogLevel::kWarn, "clock_went_back",
            {{"by", SizeText(*step)},
             {"from", absl::FormatTime(step->old_time, absl::UTCTimeZone())},
             {"to", absl::FormatTime(step->seen_time, absl::UTCTimeZone())}});
  // At once: what is renewed from here on is left alone.
  RETURN_IF_ERROR(MendSessions(session, *step));
  return true;
}

void ClockMender::Begin(const store::ClockStep& step) {
  step_ = step;
  round_ = Round(kLimit);
  found_ = 0;
  quiet_since_.reset();
}

absl::Status ClockMender::MendSessions(pg::Session& session, const store::ClockStep& step) {
  int64_t mended = kRowsAtOnce;
  while (mended >= kRowsAtOnce) {
    ASSIGN_OR_RETURN(mended, store::MendSessions(session, step, kRowsAtOnce));
    sessions_ += mended;
  }
  return absl::OkStatus();
}

absl::StatusOr<MendResult> ClockMender::RunOnce(pg::Session& session) {
  MendResult result;
  // Asked each time: another leader may have closed it.
  ASSIGN_OR_RETURN(const auto step, store::FindOpenClockStep(session));
  if (!step.has_value()) step_.reset();
  if (!step.has_value()) return result;
  if (!step_.has_value() || step_->old_time != step->old_time) Begin(*step);
  RETURN_IF_ERROR(MendSessions(session, *step));
  RETURN_IF_ERROR(owners_.Load(session));
  const absl::Status status = round_.Visit(
      session, owners_.Lanes(), [&](int64_t lane) { return VisitLane(session, lane, &result); });
  found_ += result.tasks;
  RETURN_IF_ERROR(status);
  result.is_complete = round_.is_complete();
  if (!result.is_complete) return result;
  ASSIGN_OR_RETURN(const bool is_closed, EndRound(session));
  result.is_complete = !is_closed;  // there may be another step
  return result;
}

// Rows that others had locked were left out: the step is closed once a later round found nothing.
absl::StatusOr<bool> ClockMender::EndRound(pg::Session& session) {
  const SteadyTime now = std::chrono::steady_clock::now();
  const int64_t found = std::exchange(found_, 0);
  if (found > 0 || !quiet_since_.has_value()) {
    base::Log(base::LogLevel::kInfo, "clock_mended",
              {{"by", SizeText(*step_)},
               {"sessions", absl::StrCat(std::exchange(sessions_, 0))},
               {"tasks_made_due", absl::StrCat(found)}});
    quiet_since_ = now;
    return false;
  }
  if (absl::FromChrono(now - *quiet_since_) < quiet_time_) return false;
  RETURN_IF_ERROR(store::CloseClockStep(session, *step_));
  step_.reset();
  return true;
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

absl::StatusOr<bool> ClockMender::MendPriority(pg::Session& session,
                                               const model::LaneStage& lane_stage, int16_t priority,
                                               MendResult* result) {
  int64_t all = 0;
  int64_t mended = kRowsAtOnce;
  absl::Time schedule_time;
  while (mended >= kRowsAtOnce && !round_.is_over()) {
    ASSIGN_OR_RETURN(const store::MadeDue made,
                     store::MendTasks(session, *step_, lane_stage.lane, lane_stage.stage, priority,
                                      kRowsAtOnce));
    mended = made.tasks;
    schedule_time = made.schedule_time;
    all += mended;
  }
  result->tasks += all;
  if (all > 0) {
    store::UnleasedTasks due{lane_stage.lane, lane_stage.stage, priority, true, all, schedule_time};
    RETURN_IF_ERROR(SendNotifications(session, {due}));
  }
  return mended < kRowsAtOnce;
}

}  // namespace skiplane::upkeep
