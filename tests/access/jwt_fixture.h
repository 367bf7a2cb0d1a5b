// What tests of JSON Web Tokens begin with: a verifier with keys of all types, and right claims.
#pragma once

#include <string>

#include "absl/strings/str_cat.h"
#include "server/access/jwt.h"
#include "tests/access/signer.h"
#include "tests/support/require.h"

namespace skiplane::access {

inline const absl::Time kNow = absl::FromUnixSeconds(1800000000);

inline JwtOptions SomeOptions() {
  return {.issuer = "https://id.example.org",
          .audience = "skiplane",
          .algorithms = {"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384",
                         "ES512"}};
}

inline nlohmann::json SomeClaims() {
  return {{"iss", "https://id.example.org"},
          {"aud", "skiplane"},
          {"sub", "ann@example.org"},
          {"exp", absl::ToUnixSeconds(kNow) + 300},
          {"groups", {"ops", "billing"}}};
}

// A JWKS document with the keys "rsa", "P-256", "P-384" and "P-521".
inline std::string SomeJwks() {
  nlohmann::json keys = {Signer::Rsa().PublicJwk("rsa")};
  for (const char* curve : {"P-256", "P-384", "P-521"}) {
    keys.push_back(Signer::Curve(curve).PublicJwk(curve));
  }
  return nlohmann::json({{"keys", keys}}).dump();
}

inline JwtVerifier MakeVerifier(JwtOptions options = SomeOptions(),
                                absl::string_view keys = SomeJwks()) {
  return testing::Required(JwtVerifier::Make(std::move(options),
                                             testing::Required(JwtKeys::Parse(keys, "keys"))));
}

// A token that SomeJwks() verifies.
inline std::string SomeToken(const nlohmann::json& claims = SomeClaims()) {
  return Signer::Rsa().Sign({{"alg", "RS256"}, {"kid", "rsa"}}, claims);
}

}  // namespace skiplane::access
