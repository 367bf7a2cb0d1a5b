#include "server/broker/operate/change_once.h"

#include <utility>

#include "server/base/status_macros.h"
#include "server/broker/api/refusals.h"
#include "server/pg/transaction.h"
#include "server/store/admin_requests.h"

namespace skiplane::broker {
namespace {

using Outcome = std::optional<std::string>;

// Unset: no change was made under the request id, which is the transaction's now.
absl::StatusOr<Outcome> Earlier(pg::Session& session, const model::RequestHash& request) {
  ASSIGN_OR_RETURN(const bool is_first, store::ClaimAdminRequest(session, request));
  if (is_first) return std::nullopt;
  ASSIGN_OR_RETURN(std::optional<store::AdminRequest> known,
                   store::GetAdminRequest(session, request));
  if (!known.has_value()) return ExpiredDuringTheCall();
  if (known->body_hash != request.body) return RequestIdReused();
  return std::move(known->outcome);
}

}  // namespace

absl::StatusOr<Outcome> ChangeOnce(pg::Session& session, const model::Origin& origin,
                                   absl::FunctionRef<absl::StatusOr<std::string>()> change) {
  return pg::InTransaction(session, [&]() -> absl::StatusOr<Outcome> {
    const std::optional<model::RequestHash>& request = origin.request;
    if (request.has_value()) {
      ASSIGN_OR_RETURN(Outcome earlier, Earlier(session, *request));
      if (earlier.has_value()) return earlier;
    }
    ASSIGN_OR_RETURN(const std::string outcome, change());
    if (request.has_value() && !outcome.empty()) {
      RETURN_IF_ERROR(store::NoteOutcome(session, *request, outcome));
    }
    return std::nullopt;
  });
}

}  // namespace skiplane::broker
