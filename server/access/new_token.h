// A new bearer token, for an operator who hands it out.
//
// The token is shown once and kept by nobody; its line goes into the file of tokens, which
// TokenTable reads. The bits come from the operating system.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace skiplane::access {

struct NewToken {
  std::string token;  // never logged
  std::string line;   // for the file, without the end of a line
};

// INVALID_ARGUMENT if the name or a group could not stand in the file.
absl::StatusOr<NewToken> MakeToken(absl::string_view name, const std::vector<std::string>& groups);

}  // namespace skiplane::access
