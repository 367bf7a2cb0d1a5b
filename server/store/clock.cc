#include "server/store/clock.h"

#include "server/base/status_macros.h"
#include "server/model/limits.h"
#include "server/sql/queries.h"

namespace skiplane::store {
namespace {

std::optional<ClockStep> ReadStep(const pg::Rows& rows) {
  if (rows.empty()) return std::nullopt;
  return ClockStep{rows.Micros(0, 0), rows.Micros(0, 1)};
}

}  // namespace

absl::StatusOr<std::optional<ClockStep>> NoteClockStep(pg::Session& session,
                                                       const pg::Uuid& broker_id,
                                                       absl::Duration least,
                                                       absl::Duration elapsed) {
  pg::Params params;
  params.UuidValue(broker_id).Int8(absl::ToInt64Microseconds(least));
  params.Int8(absl::ToInt64Microseconds(elapsed));
  ASSIGN_OR_RETURN(const pg::Rows rows, session.Run(sql::kClockNote, params));
  return ReadStep(rows);
}

absl::StatusOr<std::optional<ClockStep>> FindOpenClockStep(pg::Session& session) {
  ASSIGN_OR_RETURN(const pg::Rows rows, session.Run(sql::kClockOpen, pg::Params()));
  return ReadStep(rows);
}

absl::Status CloseClockStep(pg::Session& session, const ClockStep& step) {
  return session.Run(sql::kClockMended, pg::Params().Timestamp(step.old_time)).status();
}

absl::StatusOr<std::optional<ClockStep>> FindClockStepBefore(pg::Session& session,
                                                             absl::Time schedule_time) {
  ASSIGN_OR_RETURN(const pg::Rows rows,
                   session.Run(sql::kClockStep, pg::Params().Timestamp(schedule_time)));
  std::optional<ClockStep> step = ReadStep(rows);
  if (step.has_value()) step->is_mended = rows.Bool(0, 2);
  return step;
}

absl::StatusOr<int64_t> MendSessions(pg::Session& session, const ClockStep& step, int rows) {
  pg::Params params;
  params.Timestamp(step.old_time).Int8(absl::ToInt64Microseconds(step.Back()));
  params.Int8(absl::ToInt64Microseconds(model::kLeaseDurationMax)).Int4(rows);
  ASSIGN_OR_RETURN(const pg::Rows answer, session.Run(sql::kClockSessions, params));
  return answer.Int(0, 0);
}

absl::StatusOr<MadeDue> MendTasks(pg::Session& session, const ClockStep& step, int64_t lane,
                                  int16_t stage, int16_t priority, int rows) {
  pg::Params params;
  params.Int8(lane).Int2(stage).Int2(priority).Timestamp(step.old_time).Timestamp(step.seen_time);
  params.Int4(rows);
  ASSIGN_OR_RETURN(const pg::Rows answer, session.Run(sql::kClockMend, params));
  return MadeDue{answer.Int(0, 0), answer.Micros(0, 1)};
}

}  // namespace skiplane::store
