// Public keys as a JWKS document (RFC 7517): {"keys": [...]}.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/access/keys/jwt_key.h"

namespace skiplane::access {

// FAILED_PRECONDITION, saying which key, for one that is refused. Keys for something else than
// signatures, and of types that no algorithm here has, are left out. No key is no error.
absl::StatusOr<std::vector<JwtKey>> ReadJwks(absl::string_view text);

}  // namespace skiplane::access
