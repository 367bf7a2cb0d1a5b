#include "server/pg/outcome.h"

#include "absl/strings/cord.h"

namespace skiplane::pg {
namespace {

// A status that is copied or passed on keeps it; whatever is answered instead does not have it.
constexpr absl::string_view kUnknownUrl = "skiplane.dev/commit-outcome-unknown";

}  // namespace

CommitOutcome OutcomeOf(const absl::Status& status) {
  if (status.ok()) return CommitOutcome::kCommitted;
  return status.GetPayload(kUnknownUrl).has_value() ? CommitOutcome::kUnknown
                                                    : CommitOutcome::kRolledBack;
}

absl::Status WithUnknownOutcome(absl::Status status) {
  status.SetPayload(kUnknownUrl, absl::Cord());
  return status;
}

}  // namespace skiplane::pg
