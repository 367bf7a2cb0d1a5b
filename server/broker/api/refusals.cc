#include "server/broker/api/refusals.h"

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "server/base/reason.h"
#include "server/pg/outcome.h"

namespace skiplane::broker {
namespace {

constexpr absl::Duration kWaitingCallsAgain = absl::Seconds(1);

}  // namespace

absl::Status Draining() {
  return base::Refuse(absl::StatusCode::kUnavailable, "BROKER_DRAINING",
                      "this broker is shutting down; nothing was changed: retry, elsewhere if "
                      "possible");
}

absl::Status TooManyCalls() {
  return base::Refuse(absl::StatusCode::kResourceExhausted, "TOO_MANY_CALLS",
                      "too many calls wait in this broker; nothing was changed: retry later");
}

absl::Status TooManyWaitingCalls(absl::string_view full, absl::string_view instead) {
  return base::WithRetryDelay(
      base::Refuse(absl::StatusCode::kResourceExhausted, "TOO_MANY_WAITING_CALLS",
                   absl::StrCat(full, "; nothing was changed: ", instead)),
      kWaitingCallsAgain);
}

absl::Status SessionLost() {
  return base::Refuse(absl::StatusCode::kAborted, "SESSION_LOST",
                      "the worker's session has ended or was declared lost, and with it all its "
                      "leases: begin a new stream");
}

absl::Status RequestIdReused() {
  return base::Refuse(absl::StatusCode::kAlreadyExists, "REQUEST_ID_REUSED",
                      "this request_id was used with another body in the last 24 hours: take a "
                      "new one");
}

absl::Status EtagMismatch(const std::string& queue) {
  return base::Refuse(
      absl::StatusCode::kAborted, "ETAG_MISMATCH",
      absl::StrCat("queue \"", queue, "\" changed since it was read: read it again"));
}

absl::Status ExpiredDuringTheCall() {
  return base::Refuse(absl::StatusCode::kAborted, "TRANSACTION_CONFLICT",
                      "a key or request id expired during the call: call again");
}

absl::Status TaskChangedBeside() {
  return base::Refuse(absl::StatusCode::kAborted, "TRANSACTION_CONFLICT",
                      "the task changed during the call: call again");
}

bool IsOutcomeUnknown(const absl::Status& status) {
  return pg::OutcomeOf(status) == pg::CommitOutcome::kUnknown;
}

absl::Status RepeatLater() {
  return base::Refuse(absl::StatusCode::kUnavailable, "DATABASE_UNAVAILABLE",
                      "the database went away during the call; repeat it as it is: what was done "
                      "already is not done twice");
}

absl::Status RepeatOrRead(const model::Origin& origin) {
  if (origin.request.has_value()) return RepeatLater();
  return base::Refuse(absl::StatusCode::kUnknown, "COMMIT_OUTCOME_UNKNOWN",
                      "the connection to the database broke during the commit: the change may or "
                      "may not have been made. Give a request_id to make a repeat safe");
}

}  // namespace skiplane::broker
