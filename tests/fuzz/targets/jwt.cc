// JSON Web Tokens: whole ones, headers before what was signed, claims, and the header of a call
// that brings a token. The first byte says which.
#include "server/access/jwt.h"

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/access/authenticator.h"
#include "server/access/limits.h"
#include "server/access/principal.h"
#include "server/base/reason.h"
#include "tests/fuzz/targets/signed_tokens.h"
#include "tests/fuzz/target.h"

namespace skiplane::fuzz {
namespace {

const absl::Time kNow = absl::FromUnixSeconds(1800000000);

const access::JwtOptions& Options() {
  static const access::JwtOptions options = {.issuer = "https://id.example.org",
                                             .audience = "skiplane",
                                             .algorithms = {"RS256", "PS256", "ES256"}};
  return options;
}

std::shared_ptr<const access::JwtVerifier> Verifier() {
  static const auto verifier = [] {
    auto keys = access::JwtKeys::Parse(kKeys, "keys");
    Demand(keys.ok(), "the keys are good");
    return std::make_shared<const access::JwtVerifier>(
        *access::JwtVerifier::Make(Options(), *std::move(keys)));
  }();
  return verifier;
}

void DemandRefused(const absl::Status& status) {
  Demand(absl::IsUnauthenticated(status) &&
             absl::StartsWith(base::ReasonOf(status), "CREDENTIALS_"),
         "what proves nothing is refused");
}

void DemandPrincipal(const access::Principal& principal) {
  Demand(access::IsPrincipalName(principal.name), "a principal has a name");
  Demand(principal.groups.size() <= access::kGroupsPerPrincipalMax, "groups are not too many");
  for (const std::string& group : principal.groups) {
    Demand(access::IsGroupName(group), "a group has a name");
  }
}

void ReadClaims(absl::string_view bytes) {
  const auto jwt = access::CheckClaims(bytes, Options(), kNow);
  if (!jwt.ok()) return DemandRefused(jwt.status());
  DemandPrincipal(jwt->principal);
  Demand(absl::StartsWith(jwt->principal.name, access::kJwtPrefix), "a name tells its source");
  Demand(jwt->expiry > kNow, "a token has not ended");
}

void ReadToken(absl::string_view token) {
  const auto jwt = Verifier()->Verify(token, kNow);
  if (!jwt.ok()) return DemandRefused(jwt.status());
  Demand(token == kRsaToken || token == kEcToken, "only what was signed is taken");
}

void ReadAuthorization(absl::string_view bytes) {
  static const access::Authenticator authenticator({.jwts = Verifier()});
  const auto principal = authenticator.Authenticate(
      {.certificate_name = "", .authorization = std::string(bytes), .is_private = true}, kNow);
  if (!principal.ok()) return DemandRefused(principal.status());
  DemandPrincipal(**principal);
  Demand(absl::StartsWithIgnoreCase(bytes, "bearer ") &&
             (absl::StrContains(bytes, kRsaToken) || absl::StrContains(bytes, kEcToken)),
         "only a bearer of what was signed is taken");
}

void ReadJwt(absl::string_view bytes) {
  switch (TakeChoice(&bytes, 4)) {
    case 0: return ReadClaims(bytes);
    case 1: return ReadToken(bytes);
    case 2:
      return ReadToken(absl::StrCat(absl::WebSafeBase64Escape(bytes),
                                    kRsaToken.substr(kRsaToken.find('.'))));
    default: return ReadAuthorization(bytes);
  }
}

const Target kJwt("jwt", &ReadJwt);

}  // namespace
}  // namespace skiplane::fuzz
