// Adds what statements appended about failures to the error groups. Not thread-safe.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "server/pg/session.h"
#include "server/upkeep/round.h"

namespace skiplane::upkeep {

struct ErrorFoldResult {
  int64_t deltas = 0;
  bool is_complete = true;
};

class ErrorFolder {
 public:
  ErrorFolder();

  // The first error, when all that it does not concern has been done.
  absl::StatusOr<ErrorFoldResult> RunOnce(pg::Session& session);

 private:
  Round round_;
};

}  // namespace skiplane::upkeep
