// Finds bearer tokens where none should be, so that no message repeats one.
#pragma once

#include "absl/strings/string_view.h"

namespace skiplane::base {

// What bearer tokens of the file begin with: scanners of source code find them by it.
inline constexpr absl::string_view kBearerTokenStart = "skt_";

// Whether the text has one in it, and not only the beginning.
bool HoldsBearerToken(absl::string_view text);

}  // namespace skiplane::base
