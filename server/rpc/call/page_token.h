// The token of a list's next page: opaque, safe in URLs, and refused when it was made up.
// A version byte, the last name of the page before, and a checksum against accidents; it grants
// nothing, so it needs no secret. Pure functions.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace skiplane::rpc {

std::string EncodePageToken(absl::string_view last_name);

// INVALID_FIELD on page_token if `token` is not the result of EncodePageToken.
absl::StatusOr<std::string> DecodePageToken(absl::string_view token);

}  // namespace skiplane::rpc
