// What a JSON Web Token says of its caller, and whether it was made for this broker, now.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/access/principal.h"

namespace skiplane::access {

struct JwtOptions {
  std::string issuer;    // `iss` must be equal
  std::string audience;  // `aud` must hold it
  std::vector<std::string> algorithms;
  std::string groups_claim = "groups";  // a text or a list of them; need not be in a token
};

struct VerifiedJwt {
  Principal principal;
  absl::Time expiry;  // until then the token may be taken unread, the leeway included
};

// `payload` is that of a token whose signature was right. UNAUTHENTICATED (CREDENTIALS_INVALID),
// saying which claim is at fault and nothing of what is in it, if it is not JSON, comes from
// another issuer, is for another audience, has no time of expiry or no subject, has expired or is
// not valid yet. Groups whose names no file could list are left out: no rule can be about them.
absl::StatusOr<VerifiedJwt> CheckClaims(absl::string_view payload, const JwtOptions& options,
                                        absl::Time now);

}  // namespace skiplane::access
