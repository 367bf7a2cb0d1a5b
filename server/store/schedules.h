// Schedules of periodic tasks. The database validates them, as it also computes their times.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
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

}  // namespace skiplane::store
