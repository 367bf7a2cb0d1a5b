// Durations as people write them: 90s, 5m, 2h30m, 1.5h, 3d, 1w2d, 250ms.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace skiplane::cli {

// Units are w, d, h, m, s and ms; a number without one is refused unless it is 0.
absl::StatusOr<absl::Duration> ParseDuration(absl::string_view text);

// The two largest units that matter, as in "2h30m" or "1.5s".
std::string DurationText(absl::Duration duration);

}  // namespace skiplane::cli
