// The body of a log-in. Pure functions.
#pragma once

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace skiplane::http::dashboard {

inline constexpr size_t kLoginBytesMax = 16 << 10;

// The token of {"token": "..."}, without blanks around it. INVALID_ARGUMENT if the body is anything
// else, or the token is none that a cookie can hold. The message repeats nothing of it.
absl::StatusOr<std::string> ReadLogin(absl::string_view body);

}  // namespace skiplane::http::dashboard
