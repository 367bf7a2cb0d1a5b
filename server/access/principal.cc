#include "server/access/principal.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "server/access/limits.h"
#include "server/base/reason.h"

namespace skiplane::access {
namespace {

bool IsVisible(absl::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return absl::ascii_isgraph(static_cast<unsigned char>(c)); });
}

}  // namespace

bool IsPrincipalName(absl::string_view name) {
  if (name.size() > kPrincipalNameBytesMax || !IsVisible(name)) return false;
  for (const absl::string_view prefix : {kCertificatePrefix, kTokenPrefix, kJwtPrefix}) {
    if (absl::StartsWith(name, prefix)) return name.size() > prefix.size();
  }
  return name == kAnonymous;
}

bool IsGroupName(absl::string_view name) {
  constexpr absl::string_view kOthers = "._-/@:";
  return !name.empty() && name.size() <= kGroupNameBytesMax &&
         std::all_of(name.begin(), name.end(), [kOthers](char c) {
           return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
                  kOthers.find(c) != absl::string_view::npos;
         });
}

absl::Status InvalidCredentials(absl::string_view message) {
  return base::Refuse(absl::StatusCode::kUnauthenticated, "CREDENTIALS_INVALID", message);
}

absl::StatusOr<std::string> PrincipalName(absl::string_view prefix, absl::string_view rest) {
  std::string name = absl::StrCat(prefix, rest);
  if (IsPrincipalName(name)) return name;
  return InvalidCredentials(
      absl::StrCat("the name of the ", absl::StripSuffix(prefix, ":"), " is not 1 to ",
                   kPrincipalNameBytesMax - prefix.size(), " bytes of visible ASCII"));
}

}  // namespace skiplane::access
