// Repairs sessions and tasks after the database's clock went back.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/pg/session.h"

namespace skiplane::store {

struct ClockStep {
  absl::Time old_time;   // the time that it would have been
  absl::Time seen_time;  // the time that it was instead
  bool is_mended = false;

  absl::Duration Back() const { return old_time - seen_time; }
};

// Notes a step of `least` or more since lost sessions were last looked for, which was `elapsed` ago
// if this broker did.
// Unset if there was none, if this broker does not lead, or if it is noted already.
absl::StatusOr<std::optional<ClockStep>> NoteClockStep(pg::Session& session,
                                                       const pg::Uuid& broker_id,
                                                       absl::Duration least,
                                                       absl::Duration elapsed);

// The first one whose tasks are still to be mended.
absl::StatusOr<std::optional<ClockStep>> FindOpenClockStep(pg::Session& session);

absl::Status CloseClockStep(pg::Session& session, const ClockStep& step);

// The one that makes a task wait for `schedule_time`, if any does.
absl::StatusOr<std::optional<ClockStep>> FindClockStepBefore(pg::Session& session,
                                                             absl::Time schedule_time);

// Sessions do not live longer for the step. Returns how many were changed, `rows` at most. May be
// repeated: what was written since the step was noted is left alone.
absl::StatusOr<int64_t> MendSessions(pg::Session& session, const ClockStep& step, int rows);

struct MadeDue {
  int64_t tasks = 0;
  absl::Time schedule_time;
};

// What was due before the step is due again: `rows` tasks at most.
absl::StatusOr<MadeDue> MendTasks(pg::Session& session, const ClockStep& step, int64_t lane,
                                  int16_t stage, int16_t priority, int rows);

}  // namespace skiplane::store
