// The refusals that several parts of the broker make.
#pragma once

#include <chrono>

#include "absl/status/status.h"

namespace skiplane::broker {

// SERVER_DRAINING: nothing was changed.
absl::Status Draining();

// TOO_MANY_CALLS: nothing was changed.
absl::Status TooManyCalls();

// TOO_MANY_WAITING_LEASES: nothing was leased.
absl::Status TooManyWaitingLeases();

// Whether `status` leaves open if the statement was committed.
bool IsOutcomeUnknown(const absl::Status& status);

// Whether `status` is a conflict of the kind that the next try is likely not to meet: rows changed
// beside the statement. One that came slowly had waited for a lock, and would wait again.
bool IsPassingConflict(const absl::Status& status, std::chrono::steady_clock::time_point began);

// The answer to a call that is safe to repeat, after its outcome could not be learnt.
absl::Status RepeatLater();

}  // namespace skiplane::broker
