// Where the value of a flag comes from.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace skiplane::config {

// "flag", "environment" or "file or default". `flag` without its dashes.
std::string SourceOf(const std::vector<std::string>& arguments, absl::string_view flag);

}  // namespace skiplane::config
