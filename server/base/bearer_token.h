// Finds bearer tokens where none should be, so that no message repeats one.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace skiplane::base {

// What the tokens of the file of tokens begin with: scanners of source code find them by it.
inline constexpr absl::string_view kBearerTokenStart = "skt_";

// Whether the text has one in it, of that file or a JSON Web Token, and not only the beginning.
bool HoldsBearerToken(absl::string_view text);

// A file's path as messages may have it, which go to the log.
std::string ShownPath(const std::string& path);

}  // namespace skiplane::base
