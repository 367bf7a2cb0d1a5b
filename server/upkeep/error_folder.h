// Adds what statements appended about failures to the error groups, and removes groups that are no
// longer of interest. Not thread-safe.
#pragma once

#include <chrono>
#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/pg/session.h"
#include "server/upkeep/lane_cleaner.h"
#include "server/upkeep/round.h"

namespace skiplane::upkeep {

struct ErrorFoldResult {
  int64_t deltas = 0;
  int64_t removed = 0;  // groups
  bool is_complete = true;
};

class ErrorFolder {
 public:
  // A lane's groups are looked through `clean_after` the first fold since the last time, and an
  // hour or so after one of them became too old.
  explicit ErrorFolder(absl::Duration clean_after = absl::Minutes(1));

  // The first error, when all that it does not concern has been done.
  absl::StatusOr<ErrorFoldResult> RunOnce(pg::Session& session);

 private:
  absl::Status NoteIdleLanes(pg::Session& session);

  Round round_;
  std::chrono::steady_clock::time_point idle_due_{};
  LaneCleaner cleaner_;
};

}  // namespace skiplane::upkeep
