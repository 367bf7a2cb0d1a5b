// Prose cut into lines.
#pragma once

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace skiplane::cli {

// Breaks lines between words so that none is longer than `width` characters unless a word is. Line
// breaks of the text stay.
std::string Wrap(absl::string_view text, size_t width);

// Up to the first full stop, colon or line break, without it.
std::string FirstSentence(absl::string_view text);

}  // namespace skiplane::cli
