// Files that operators write: settings of access, keys, certificates.
#pragma once

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"

namespace skiplane::base {

// The whole file, byte by byte. FAILED_PRECONDITION, naming the file, if it cannot be read, is no
// file, or has more than `bytes_max` bytes.
absl::StatusOr<std::string> ReadFile(const std::string& path, size_t bytes_max);

}  // namespace skiplane::base
