// The file of bearer tokens.
#include "server/access/token_file.h"

#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/access/digest.h"
#include "server/access/principal.h"
#include "server/base/bearer_token.h"
#include "tests/fuzz/target.h"

namespace skiplane::fuzz {
namespace {

constexpr absl::string_view kToken = "skt_probe";
constexpr absl::string_view kName = "fuzz-probe";

void ReadTokenFile(absl::string_view bytes) {
  const auto table = access::TokenTable::Parse(bytes, "tokens");
  if (!table.ok()) {
    Demand(absl::IsFailedPrecondition(table.status()) &&
               absl::StartsWith(table.status().message(), "tokens"),
           "a refusal names the file");
    Demand(!absl::StrContains(table.status().message(), base::kBearerTokenStart),
           "a token instead of its hash is not repeated");
    return;
  }
  Demand(table->Find("skt_other") == nullptr, "a token that is not listed is nobody's");
  if (absl::StrContains(bytes, kName) || bytes.size() > 1000) return;
  const access::Digest digest = access::Sha256(kToken);
  const std::string hex = absl::BytesToHexString(
      {reinterpret_cast<const char*>(digest.data()), digest.size()});
  if (absl::StrContains(absl::AsciiStrToLower(bytes), hex)) return;
  const auto longer = access::TokenTable::Parse(
      absl::StrCat(bytes, "\n", kName, " sha256:", hex, " ops,billing\n"), "tokens");
  Demand(longer.ok() && longer->size() == table->size() + 1, "a line adds a token");
  const auto principal = longer->Find(kToken);
  Demand(principal != nullptr && principal->name == absl::StrCat(access::kTokenPrefix, kName) &&
             principal->groups.size() == 2,
         "a token is its line's");
}

const Target kTokenFile("token_file", &ReadTokenFile);

}  // namespace
}  // namespace skiplane::fuzz
