// Files that the command line names, as a whole; "-" is standard input.
#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace skiplane::cli {

absl::StatusOr<std::string> ReadFile(const std::string& path);

// The same for the payload of a task: a usage error if it is larger than the broker takes.
absl::StatusOr<std::string> ReadPayload(const std::string& path);

}  // namespace skiplane::cli
