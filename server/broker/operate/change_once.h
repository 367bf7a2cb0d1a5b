// The transaction of an operator's change. With a request id it takes effect once, whatever happens
// to the answer, the broker or the connection, and however many brokers are asked at once.
#pragma once

#include <optional>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "server/model/report.h"
#include "server/pg/session.h"

namespace skiplane::broker {

// Runs `change` in a transaction, unless one was made under the request id of `origin`: then
// returns what that one noted. Unset: it was made now. What `change` returns is noted for repeats;
// it may be empty, and holds no payloads. A change that fails leaves its request id unused.
//
// Everything on which a change depends is read within it: a repeat must not be refused because of
// what the first call changed. REQUEST_ID_REUSED if the id was used for something else.
absl::StatusOr<std::optional<std::string>> ChangeOnce(
    pg::Session& session, const model::Origin& origin,
    absl::FunctionRef<absl::StatusOr<std::string>()> change);

}  // namespace skiplane::broker
