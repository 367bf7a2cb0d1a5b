// Which cells of a table are coloured: states, and numbers of failures that are not 0.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace skiplane::cli {

// Behind a coloured cell.
inline constexpr char kPlain[] = "\x1b[0m";

// What goes before the cell of a column, or of a field, of this name; empty: no colour.
absl::string_view ColorOf(absl::string_view title, absl::string_view cell);

}  // namespace skiplane::cli
