#include "server/broker/refusals.h"

#include "server/base/reason.h"

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
  return base::ReasonOf(status) == "COMMIT_OUTCOME_UNKNOWN";
}

bool IsPassingConflict(const absl::Status& status, std::chrono::steady_clock::time_point began) {
  return absl::IsAborted(status) &&
         std::chrono::steady_clock::now() - began < std::chrono::milliseconds(500);
}

absl::Status RepeatLater() {
  return base::Refuse(absl::StatusCode::kUnavailable, "DATABASE_UNAVAILABLE",
                      "the database went away during the call; repeat it as it is: what was done "
                      "already is not done twice");
}

}  // namespace skiplane::broker
