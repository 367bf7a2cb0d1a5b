#include "server/config/source.h"

#include <algorithm>
#include <cstdlib>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/config/settings_file.h"

namespace skiplane::config {

std::string SourceOf(const std::vector<std::string>& arguments, absl::string_view flag) {
  const std::string name = absl::StrCat("--", flag);
  const std::string assigned = absl::StrCat(name, "=");
  const bool is_given = std::ranges::any_of(arguments, [&](const std::string& argument) {
    return argument == name || absl::StartsWith(argument, assigned);
  });
  if (is_given) return "flag";
  const char* const variable = std::getenv(EnvironmentName(flag).c_str());
  return variable != nullptr && *variable != '\0' ? "environment" : "file or default";
}

}  // namespace skiplane::config
