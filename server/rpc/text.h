// Text that goes to callers: cut to a size without breaking a character. Pure functions.
#pragma once

#include <cstddef>

#include "absl/strings/string_view.h"

namespace skiplane::rpc {

// The longest prefix of `text` that has at most `bytes` bytes and ends between two characters of
// UTF-8. A cut inside a character would make the whole error unreadable for the caller's protobuf.
absl::string_view CutText(absl::string_view text, size_t bytes);

}  // namespace skiplane::rpc
