// As much of UTF-8 as a table needs: lengths in characters, cuts between them.
#pragma once

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace skiplane::cli {

// Bytes that do not belong to a well-formed character become '?', and so do the control characters
// U+0080 to U+009F, those that turn the direction of what follows, and line separators.
std::string Utf8Valid(absl::string_view text);

// Says where the first byte is that does not belong to a well-formed character, counted from 1, as
// "byte 5 (0xfc) is not UTF-8"; empty if there is none.
std::string Utf8Fault(absl::string_view text);

// Whether all of it is well-formed characters; control characters are.
bool Utf8IsValid(absl::string_view text);

// In characters, of valid text.
size_t Utf8Length(absl::string_view text);

// At most `length` characters; if something is cut off, the last one is an ellipsis.
std::string Utf8Cut(absl::string_view text, size_t length);

}  // namespace skiplane::cli
