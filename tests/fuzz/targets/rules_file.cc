// The file of rules.
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/access/rules.h"
#include "server/base/bearer_token.h"
#include "tests/fuzz/target.h"

namespace skiplane::fuzz {
namespace {

constexpr absl::string_view kStranger = "token:fuzz-stranger";

void DemandNothing(const access::Rules& rules) {
  const access::Grants grants = rules.Resolve({.name = std::string(kStranger), .groups = {}});
  for (size_t i = 0; i < access::kVerbs; ++i) {
    const auto verb = static_cast<access::Verb>(i);
    Demand(!grants.AllowsSome(verb) && !grants.AllowsAll(verb) && !grants.Allows(verb, "mail"),
           "whom no rule names may do nothing");
  }
}

void ReadRulesFile(absl::string_view bytes) {
  const auto rules = access::Rules::Parse(bytes, "rules");
  if (!rules.ok()) {
    Demand(absl::IsFailedPrecondition(rules.status()) &&
               absl::StartsWith(rules.status().message(), "rules"),
           "a refusal names the file");
    Demand(!absl::StrContains(rules.status().message(), base::kBearerTokenStart),
           "a token in the wrong file is not repeated");
    return;
  }
  if (absl::StrContains(bytes, kStranger) || absl::StrContains(bytes, "everyone")) return;
  DemandNothing(*rules);
  const auto longer = access::Rules::Parse(
      absl::StrCat(bytes, "\nallow ", kStranger, " to read on status-?\n"), "rules");
  Demand(longer.ok(), "a rule can be added");
  const access::Principal stranger = {.name = std::string(kStranger), .groups = {}};
  Demand(longer->Allows(stranger, access::Verb::kRead, "status-1") &&
             !longer->Allows(stranger, access::Verb::kRead, "status-12") &&
             !longer->Allows(stranger, access::Verb::kOperate, "status-1"),
         "a rule allows what it says, and no more");
}

const Target kRulesFile("rules_file", &ReadRulesFile);

}  // namespace
}  // namespace skiplane::fuzz
