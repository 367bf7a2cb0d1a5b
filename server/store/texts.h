// Texts as parameters and in answers. Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/strings/string_view.h"

namespace skiplane::store {

// An empty text is null in the database.
std::optional<absl::string_view> IfAny(absl::string_view text);

// The numbers of "{1,2,3}", PostgreSQL's text of an array.
std::vector<int64_t> NumbersOf(absl::string_view array);

}  // namespace skiplane::store
