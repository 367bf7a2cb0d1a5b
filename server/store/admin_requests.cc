#include "server/store/admin_requests.h"

#include "server/base/status_macros.h"
#include "server/sql/queries.h"

namespace skiplane::store {

absl::StatusOr<bool> ClaimAdminRequest(pg::Session& session, const model::RequestHash& request) {
  ASSIGN_OR_RETURN(const pg::Rows rows,
                   session.Run(sql::kAdminRequestClaim,
                               pg::Params().Bytea(request.id).Bytea(request.body)));
  return !rows.empty();
}

absl::StatusOr<std::optional<AdminRequest>> GetAdminRequest(pg::Session& session,
                                                            const model::RequestHash& request) {
  ASSIGN_OR_RETURN(const pg::Rows rows,
                   session.Run(sql::kAdminRequestGet, pg::Params().Bytea(request.id)));
  if (rows.empty()) return std::nullopt;
  return AdminRequest{rows.Bytea(0, 0), std::string(rows.Text(0, 1))};
}

absl::Status NoteOutcome(pg::Session& session, const model::RequestHash& request,
                         absl::string_view outcome) {
  return session
      .Run(sql::kAdminRequestNote, pg::Params().Bytea(request.id).Text(outcome))
      .status();
}

}  // namespace skiplane::store
