#include "server/access/new_token.h"

#include <unistd.h>

#include <algorithm>
#include <array>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "server/access/digest.h"
#include "server/access/principal.h"
#include "server/base/bearer_token.h"
#include "server/base/reason.h"

namespace skiplane::access {

absl::StatusOr<NewToken> MakeToken(absl::string_view name, const std::vector<std::string>& groups) {
  // A name that begins with # would be a comment; commas stand between the members of a group.
  if (!IsPrincipalName(absl::StrCat(kTokenPrefix, name)) || name.front() == '#' ||
      absl::StrContains(name, ',')) {
    return base::InvalidField("name",
                              "must be 1 to 249 bytes of visible ASCII, not # first, no comma");
  }
  if (!std::all_of(groups.begin(), groups.end(), IsGroupName)) {
    return base::InvalidField("groups", "must be names of 1 to 128 of A-Z a-z 0-9 . _ - / @ :");
  }
  std::array<char, 32> bits;
  if (getentropy(bits.data(), bits.size()) != 0) {
    return absl::InternalError("the operating system gives no random bits");
  }
  NewToken made;
  made.token = absl::StrCat(base::kBearerTokenStart,
                            absl::WebSafeBase64Escape({bits.data(), bits.size()}));
  const Digest digest = Sha256(made.token);
  made.line = absl::StrCat(
      name, " sha256:",
      absl::BytesToHexString({reinterpret_cast<const char*>(digest.data()), digest.size()}),
      groups.empty() ? "" : " ", absl::StrJoin(groups, ","));
  return made;
}

}  // namespace skiplane::access
