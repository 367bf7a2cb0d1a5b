// The refusals that several parts of the broker make.
#pragma once

#include "absl/status/status.h"

namespace skiplane::broker {

// SERVER_DRAINING: nothing was changed.
absl::Status Draining();

// TOO_MANY_CALLS: nothing was changed.
absl::Status TooManyCalls();

// TOO_MANY_WAITING_LEASES: nothing was leased.
absl::Status TooManyWaitingLeases();

// Whether `status` leaves open if the statement was committed: pg::CommitOutcome::kUnknown.
bool IsOutcomeUnknown(const absl::Status& status);

// The answer to a call that is safe to repeat, after its outcome could not be learnt.
absl::Status RepeatLater();

}  // namespace skiplane::broker
