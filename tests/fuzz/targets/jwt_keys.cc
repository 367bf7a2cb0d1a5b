// Keys of an identity provider, as a JWKS document or in PEM form.
#include "server/access/keys/jwt_keys.h"

#include <utility>

#include "absl/strings/match.h"
#include "server/access/jwt.h"
#include "tests/fuzz/targets/signed_tokens.h"
#include "tests/fuzz/target.h"

namespace skiplane::fuzz {
namespace {

constexpr size_t kKeysMost = 32;

void ReadKeys(absl::string_view bytes) {
  auto keys = access::JwtKeys::Parse(bytes, "keys");
  if (!keys.ok()) {
    Demand(absl::IsFailedPrecondition(keys.status()) &&
               absl::StartsWith(keys.status().message(), "keys: "),
           "a refusal names the file");
    return;
  }
  Demand(keys->size() > 0 && keys->size() <= kKeysMost, "keys are some, and not too many");
  const bool are_known = bytes == kKeys;
  const auto verifier = access::JwtVerifier::Make(
      {.issuer = "https://id.example.org", .audience = "skiplane",
       .algorithms = {"RS256", "PS256", "ES256", "ES384", "ES512"}},
      *std::move(keys));
  Demand(verifier.ok(), "any keys can be used");
  for (const absl::string_view token : {kRsaToken, kEcToken}) {
    const bool is_taken = verifier->Verify(token, absl::FromUnixSeconds(1800000000)).ok();
    Demand(is_taken || !are_known, "the right keys verify");
  }
}

const Target kJwtKeys("jwt_keys", &ReadKeys);

}  // namespace
}  // namespace skiplane::fuzz
