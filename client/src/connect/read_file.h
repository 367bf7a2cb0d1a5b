// Reads a file of credentials.
#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace skiplane::internal {

// Up to the first NUL, which neither PEM nor a token has. NOT_FOUND, with the path and the reason,
// if it cannot be read.
absl::StatusOr<std::string> ReadFile(const std::string& path);

}  // namespace skiplane::internal
