// What the files of tokens and rules have in common: lines of words, comments on lines of their own
// that begin with #, and errors that name file and line.
#pragma once

#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace skiplane::access {

// The words of a line, with any spaces between.
std::vector<absl::string_view> Words(absl::string_view line);

// Calls `take` with every line that says something, from the first to one that it refuses.
// FAILED_PRECONDITION for a file above `bytes_max`, and with the message of `take` behind
// "FILE line N: ".
absl::Status ForEachLine(absl::string_view text, absl::string_view file, size_t bytes_max,
                         absl::FunctionRef<absl::Status(absl::string_view)> take);

}  // namespace skiplane::access
