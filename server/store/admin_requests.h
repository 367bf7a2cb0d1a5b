// Changes that were made with a request id, as rows: known for a day, and written in the
// transaction of the change.
#pragma once

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/model/report.h"
#include "server/pg/session.h"

namespace skiplane::store {

struct AdminRequest {
  std::string body_hash;
  std::string outcome;
};

// In a transaction: returns whether the request id is the caller's from now on; false if a
// change was made under it. Waits for the end of a transaction that has it.
absl::StatusOr<bool> ClaimAdminRequest(pg::Session& session, const model::RequestHash& request);

// Unset if nothing is known under this id.
absl::StatusOr<std::optional<AdminRequest>> GetAdminRequest(pg::Session& session,
                                                            const model::RequestHash& request);

// In the transaction that claimed it.
absl::Status NoteOutcome(pg::Session& session, const model::RequestHash& request,
                         absl::string_view outcome);

}  // namespace skiplane::store
