// Checks JSON Web Tokens (RFC 7519) of one identity provider.
//
// A token is taken if it is signed by one of the keys, with an algorithm that is listed and suits
// the key, and its claims are right (jwt_claims.h). Refused are `none` and HS*, which need no
// private key; a `kid` that no key has; a `crit` header, whose meaning we do not know; a token
// above 8 KiB. Keys come from the operator's file alone: what a token says of keys (`jwk`, `jku`,
// `x5c`) is not looked at. Does not change; used by any thread.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/access/keys/jwt_algorithm.h"
#include "server/access/jwt_claims.h"
#include "server/access/keys/jwt_keys.h"

namespace skiplane::access {

class JwtVerifier {
 public:
  // FAILED_PRECONDITION if issuer or audience is empty, or an algorithm is none of
  // jwt_algorithm.h, or there is none.
  static absl::StatusOr<JwtVerifier> Make(JwtOptions options, JwtKeys keys);

  // UNAUTHENTICATED (CREDENTIALS_INVALID), saying which check failed and nothing of the token.
  absl::StatusOr<VerifiedJwt> Verify(absl::string_view token, absl::Time now) const;

 private:
  JwtVerifier(JwtOptions options, JwtKeys keys)
      : options_(std::move(options)), keys_(std::move(keys)) {}

  // The algorithm of this name, if it is listed; else null.
  const JwtAlgorithm* FindListed(absl::string_view name) const;

  JwtOptions options_;
  JwtKeys keys_;
};

}  // namespace skiplane::access
