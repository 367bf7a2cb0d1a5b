// Points in time as people and databases write them.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace skiplane::cli {

// RFC 3339 ("2026-11-21T10:00:00Z"), what PostgreSQL prints ("2026-11-21 10:00:00.5+02"), or the
// same without a zone, which means the local one; the time of day may be cut, or left out.
absl::StatusOr<absl::Time> ParseInstant(absl::string_view text);

// To the second, in the local time zone.
std::string FormatInstant(absl::Time time);

}  // namespace skiplane::cli
