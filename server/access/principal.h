// Who calls: a name, and the groups that its credentials put it into.
//
// A name begins with its source, so that no source can imitate another: a token named
// "certificate:billing" would be "token:certificate:billing". What comes behind is compared byte by
// byte, and never cut or changed: a name that is not 1 to 255 bytes of visible ASCII in all is
// refused.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace skiplane::access {

struct Principal {
  std::string name;
  std::vector<std::string> groups;
  absl::Time expires = absl::InfiniteFuture();  // from then on its credentials prove nothing
};

inline constexpr absl::string_view kCertificatePrefix = "certificate:";
inline constexpr absl::string_view kTokenPrefix = "token:";
inline constexpr absl::string_view kJwtPrefix = "jwt:";
// Everybody, where no credentials are configured at all.
inline constexpr absl::string_view kAnonymous = "anonymous";

// Whether it may be a principal's whole name: one of the prefixes with something behind it, or
// "anonymous".
bool IsPrincipalName(absl::string_view name);

// 1 to 128 of A-Z a-z 0-9 . _ - / @ and colon: what a file can list with spaces and commas.
bool IsGroupName(absl::string_view name);

// UNAUTHENTICATED (CREDENTIALS_INVALID): what was shown does not prove who calls. `message` says
// which check failed, and repeats nothing of it.
absl::Status InvalidCredentials(absl::string_view message);

// The name of what `prefix` vouches for. UNAUTHENTICATED (CREDENTIALS_INVALID) if that is none;
// the message does not repeat it.
absl::StatusOr<std::string> PrincipalName(absl::string_view prefix, absl::string_view rest);

}  // namespace skiplane::access
