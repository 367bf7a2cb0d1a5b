// The refusals that several parts of the broker make.
#pragma once

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/model/report.h"

namespace skiplane::broker {

// BROKER_DRAINING: nothing was changed.
absl::Status Draining();

// TOO_MANY_CALLS: nothing was changed.
absl::Status TooManyCalls();

// TOO_MANY_WAITING_CALLS, with a second to wait: nothing was changed. `full` says what is, and
// `instead` what helps.
absl::Status TooManyWaitingCalls(
    absl::string_view full = "too many Lease calls wait in this broker",
    absl::string_view instead = "retry later, or use another broker");

// SESSION_LOST: the worker of a stream holds nothing any more.
absl::Status SessionLost();

// REQUEST_ID_REUSED: the id was answered for something else.
absl::Status RequestIdReused();

// ETAG_MISMATCH.
absl::Status EtagMismatch(const std::string& queue);

// TRANSACTION_CONFLICT: a key or request id was known when the call met it, and then was not.
absl::Status ExpiredDuringTheCall();

// TRANSACTION_CONFLICT: the task went to another state while it was to be changed.
absl::Status TaskChangedBeside();

// Whether `status` leaves open if the statement was committed: pg::CommitOutcome::kUnknown.
bool IsOutcomeUnknown(const absl::Status& status);

// The answer to a call that is safe to repeat, after its outcome could not be learnt.
absl::Status RepeatLater();

// The same for a change that would do more when it is made again, unless `origin` has a request id:
// then COMMIT_OUTCOME_UNKNOWN.
absl::Status RepeatOrRead(const model::Origin& origin);

}  // namespace skiplane::broker
