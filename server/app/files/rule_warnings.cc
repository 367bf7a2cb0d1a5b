#include "server/app/files/rule_warnings.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace skiplane::app {
namespace {

using Texts = std::vector<std::string>;
using Principals = std::map<std::string, std::shared_ptr<const access::Principal>>;

constexpr absl::string_view kGroup = "group:";

bool AllowsNothing(const access::Rules& rules, const access::Principal& principal) {
  const access::Grants grants = rules.Resolve(principal);
  for (size_t verb = 0; verb < access::kVerbs; ++verb) {
    if (grants.AllowsSome(static_cast<access::Verb>(verb))) return false;
  }
  return true;
}

// Why nobody has the name of this principal; empty if somebody may.
std::string WhyNobody(const access::Sources& sources, const Principals& with_token,
                      const std::string& principal) {
  if (absl::StartsWith(principal, access::kTokenPrefix)) {
    if (sources.tokens == nullptr) return "there is no --token-file";
    return with_token.contains(principal) ? "" : "no token has this name";
  }
  if (absl::StartsWith(principal, access::kJwtPrefix)) {
    return sources.jwts == nullptr ? "there is no --jwt-keys" : "";
  }
  if (absl::StartsWith(principal, access::kCertificatePrefix)) {
    return sources.takes_certificates ? "" : "there is no --tls-client-ca";
  }
  const bool asks = sources.tokens != nullptr || sources.jwts != nullptr ||
                    sources.takes_certificates;
  return principal == access::kAnonymous && asks ? "the broker asks who calls" : "";
}

std::set<std::string> GroupsWithMembers(const access::Rules& rules, const Principals& with_token) {
  std::set<std::string> groups;
  for (const auto& [member, its] : rules.groups()) groups.insert(its.begin(), its.end());
  for (const auto& [name, principal] : with_token) {
    groups.insert(principal->groups.begin(), principal->groups.end());
  }
  return groups;
}

void WarnOfNobody(const access::Sources& sources, const Principals& with_token,
                  const std::string& file, Texts& warnings) {
  const Texts named = sources.rules.Named();
  std::set<std::string> principals(named.begin(), named.end());
  for (const auto& [member, groups] : sources.rules.groups()) principals.insert(member);
  const std::set<std::string> groups = GroupsWithMembers(sources.rules, with_token);
  for (const std::string& who : principals) {
    absl::string_view group = who;
    if (absl::StrContains(who, '*') || absl::StrContains(who, '?')) {
      warnings.push_back(absl::StrCat(file, ": ", who, " is taken literally: * and ? stand for "
                                      "others in names of queues only"));
    } else if (absl::ConsumePrefix(&group, kGroup)) {
      // A JSON Web Token may name any.
      if (sources.jwts != nullptr || groups.contains(std::string(group))) continue;
      warnings.push_back(absl::StrCat(file, ": nobody is in ", who));
    } else if (const std::string why = WhyNobody(sources, with_token, who); !why.empty()) {
      warnings.push_back(absl::StrCat(file, ": nobody is ", who, ": ", why));
    }
  }
}

void WarnOfGroupsWithoutRules(const access::Rules& rules, const std::string& file,
                              Texts& warnings) {
  const Texts named = rules.Named();
  std::set<std::string> groups;
  for (const auto& [member, its] : rules.groups()) groups.insert(its.begin(), its.end());
  for (const std::string& group : groups) {
    const std::string who = absl::StrCat(kGroup, group);
    if (std::find(named.begin(), named.end(), who) != named.end()) continue;
    warnings.push_back(absl::StrCat(file, ": no rule is for ", who));
  }
}

}  // namespace

Texts RuleWarnings(const config::Access& access, const access::Sources& sources) {
  Texts warnings;
  if (access.rules_file.empty()) return warnings;
  Principals with_token;
  if (sources.tokens != nullptr) with_token = sources.tokens->Principals();
  WarnOfNobody(sources, with_token, access.rules_file, warnings);
  WarnOfGroupsWithoutRules(sources.rules, access.rules_file, warnings);
  for (const auto& [name, principal] : with_token) {
    if (!AllowsNothing(sources.rules, *principal)) continue;
    warnings.push_back(absl::StrCat(access.token_file, ": no rule allows anything to ", name));
  }
  return warnings;
}

}  // namespace skiplane::app
