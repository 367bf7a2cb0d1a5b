// Whether a transaction was committed. Only this decides if its work may be repeated.
#pragma once

#include "absl/status/status.h"

namespace skiplane::pg {

enum class CommitOutcome {
  kCommitted,
  kRolledBack,  // or never begun: nothing was changed
  kUnknown,     // the connection broke before the answer came
};

// What the status of a COMMIT, or of a statement that is its own transaction, says of it.
CommitOutcome OutcomeOf(const absl::Status& status);

// The same status, which then says that the outcome is unknown. For this room's errors only.
absl::Status WithUnknownOutcome(absl::Status status);

}  // namespace skiplane::pg
