// Base64 as JSON Web Tokens and Keys have it (RFC 7515): letters, digits, - and _ without padding.
#pragma once

#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace skiplane::access {

// Only the one spelling that each text has: no padding, no spaces, no bits too many. So a token
// cannot be changed into another spelling of itself, and cjose 0.6.2.1, which ends the process at
// some misplaced padding, never sees any.
std::optional<std::string> DecodeBase64Url(absl::string_view text);

}  // namespace skiplane::access
