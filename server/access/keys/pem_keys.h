// Public keys in PEM form, as such or in certificates, one behind the other.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/access/keys/jwt_key.h"

namespace skiplane::access {

// FAILED_PRECONDITION, saying which block, for one that is refused. No key is no error.
absl::StatusOr<std::vector<JwtKey>> ReadPemKeys(absl::string_view text);

}  // namespace skiplane::access
