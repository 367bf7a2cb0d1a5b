// Text that is cut to a size without breaking a character. Pure functions.
#pragma once

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace skiplane::rpc {

// The longest prefix of `text` that has at most `bytes` bytes and ends between two characters of
// UTF-8. A cut inside a character would make the whole error unreadable for the caller's protobuf.
// Of bytes that are no UTF-8, the first `bytes`.
absl::string_view CutText(absl::string_view text, size_t bytes);

// The same, in place.
void CutInPlace(size_t bytes, std::string* text);

// The same of a text that must not contain NUL either: it ends before the first one.
void CutTextInPlace(size_t bytes, std::string* text);

}  // namespace skiplane::rpc
