// Schedules of periodic tasks. The database validates them, as it also computes their times.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "server/model/report.h"
#include "server/pg/session.h"

namespace skiplane::store {

// A cron text and its time zone.
using Schedule = std::pair<std::string, std::string>;

// One text per schedule, in order: empty if it is fine, else "cron: …" or "time_zone: …".
absl::StatusOr<std::vector<std::string>> CheckSchedules(pg::Session& session,
                                                        absl::Span<const Schedule> schedules);

// The next `count` planned times of a cron schedule after a time; unset: now.
absl::StatusOr<std::vector<absl::Time>> PreviewSchedule(pg::Session& session,
                                                        const Schedule& schedule,
                                                        std::optional<absl::Time> after, int count);

struct PlannedTasks {
  std::vector<model::PlannedPlace> tasks;
  std::optional<model::PlannedPlace> next;  // behind which to go on; unset: that was all
};

// Living periodic tasks of these lanes, or of any if there are none, by planned time: at most
// `limit`. A part of them is looked at, so that there may be none and yet a next one.
absl::StatusOr<PlannedTasks> ListPlanned(pg::Session& session, const model::PlannedPlace& after,
                                         absl::Span<const int64_t> lanes, int limit);

}  // namespace skiplane::store
