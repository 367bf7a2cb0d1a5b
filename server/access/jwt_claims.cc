#include "server/access/jwt_claims.h"

#include <algorithm>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "server/access/limits.h"
#include "server/base/status_macros.h"

namespace skiplane::access {
namespace {

absl::Status RefuseClaims(absl::string_view fault) {
  return InvalidCredentials(absl::StrCat("the JSON Web Token ", fault));
}

using Json = nlohmann::json;

// Of two claims of one name another reader may take the other one.
absl::StatusOr<Json> Parse(absl::string_view payload) {
  std::set<std::string> names;
  bool is_double = false;
  const auto take = [&](int depth, Json::parse_event_t event, const Json& value) {
    if (depth == 1 && event == Json::parse_event_t::key) {
      is_double = !names.insert(value.get<std::string>()).second || is_double;
    }
    return true;
  };
  Json claims = Json::parse(payload.begin(), payload.end(), take, /*allow_exceptions=*/false);
  if (!claims.is_object()) return RefuseClaims("has claims that are no JSON object");
  if (is_double) return RefuseClaims("has two claims of one name");
  return claims;
}

const Json& Claim(const Json& claims, const std::string& name) {
  static const Json none;
  const auto found = claims.find(name);
  return found == claims.end() ? none : *found;
}

bool Holds(const Json& audiences, const std::string& audience) {
  if (!audiences.is_array()) return audiences == audience;
  return std::find(audiences.begin(), audiences.end(), audience) != audiences.end();
}

// A time as tokens have it: seconds since 1970, with fractions.
absl::Time TimeOf(const Json& claim) {
  return absl::UnixEpoch() + absl::Seconds(claim.get<double>());
}

// The last time of its life.
absl::StatusOr<absl::Time> CheckTimes(const Json& claims, absl::Time now) {
  const Json& expiry = Claim(claims, "exp");
  if (!expiry.is_number()) return RefuseClaims("has no time of expiry (`exp`)");
  const absl::Time end = TimeOf(expiry) + kJwtLeeway;
  if (now >= end) return RefuseClaims("has expired (`exp`)");
  if (!claims.contains("nbf")) return end;
  const Json& begin = Claim(claims, "nbf");
  if (!begin.is_number()) return RefuseClaims("has a `nbf` that is no time");
  if (now < TimeOf(begin) - kJwtLeeway) return RefuseClaims("is not valid yet (`nbf`)");
  return end;
}

absl::StatusOr<std::vector<std::string>> ReadGroups(const Json& claim) {
  std::vector<std::string> groups;
  if (claim.is_null()) return groups;
  const Json list = claim.is_array() ? claim : Json::array({claim});
  for (const Json& group : list) {
    if (!group.is_string()) return RefuseClaims("has groups that are no texts");
    if (IsGroupName(group.get_ref<const std::string&>())) groups.push_back(group);
  }
  if (groups.size() > kGroupsPerPrincipalMax) {
    return RefuseClaims(absl::StrCat("has more than ", kGroupsPerPrincipalMax, " groups"));
  }
  return groups;
}

}  // namespace

absl::StatusOr<VerifiedJwt> CheckClaims(absl::string_view payload, const JwtOptions& options,
                                        absl::Time now) {
  ASSIGN_OR_RETURN(const Json claims, Parse(payload));
  if (Claim(claims, "iss") != options.issuer) return RefuseClaims("is of another issuer (`iss`)");
  if (!Holds(Claim(claims, "aud"), options.audience)) {
    return RefuseClaims("is for another audience (`aud`)");
  }
  VerifiedJwt verified;
  ASSIGN_OR_RETURN(verified.expiry, CheckTimes(claims, now));
  const Json& subject = Claim(claims, "sub");
  if (!subject.is_string()) return RefuseClaims("has no subject (`sub`)");
  ASSIGN_OR_RETURN(verified.principal.name,
                   PrincipalName(kJwtPrefix, subject.get_ref<const std::string&>()));
  ASSIGN_OR_RETURN(verified.principal.groups, ReadGroups(Claim(claims, options.groups_claim)));
  return verified;
}

}  // namespace skiplane::access
