#include "server/broker/refusals.h"

#include "server/base/reason.h"
#include "server/pg/outcome.h"

namespace skiplane::broker {

absl::Status Draining() {
  return base::Refuse(absl::StatusCode::kUnavailable, "SERVER_DRAINING",
                      "this broker is shutting down; nothing was changed: retry, elsewhere if "
                      "possible");
}

absl::Status TooManyCalls() {
  return base::Refuse(absl::StatusCode::kResourceExhausted, "TOO_MANY_CALLS",
                      "too many calls wait in this broker; nothing was changed: retry later");
}

absl::Status TooManyWaitingLeases() {
  return base::Refuse(absl::StatusCode::kResourceExhausted, "TOO_MANY_WAITING_LEASES",
                      "too many Lease calls wait in this broker; nothing was leased: retry later, "
                      "or use another broker");
}

bool IsOutcomeUnknown(const absl::Status& status) {
  return pg::OutcomeOf(status) == pg::CommitOutcome::kUnknown;
}

absl::Status RepeatLater() {
  return base::Refuse(absl::StatusCode::kUnavailable, "DATABASE_UNAVAILABLE",
                      "the database went away during the call; repeat it as it is: what was done "
                      "already is not done twice");
}

}  // namespace skiplane::broker
