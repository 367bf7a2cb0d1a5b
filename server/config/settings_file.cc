#include "server/config/settings_file.h"

#include <cstdlib>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace skiplane::config {
namespace {

bool IsInEnvironment(const std::string& flag) {
  const char* const value = std::getenv(EnvironmentName(flag).c_str());
  return value != nullptr && *value != '\0';
}

}  // namespace

std::string EnvironmentName(absl::string_view flag) {
  return absl::StrCat("SKIPLANE_", absl::AsciiStrToUpper(absl::StrReplaceAll(flag, {{"-", "_"}})));
}

SettingsFile::SettingsFile() {
  // Characters that no line has switch off comments behind a value and arrays, which would cut
  // passwords and IPv6 addresses to pieces.
  comment('\0');
  arrayBounds('\1', '\2');
  arrayDelimiter('\3');
}

std::vector<CLI::ConfigItem> SettingsFile::from_config(std::istream& input) const {
  std::vector<CLI::ConfigItem> lines = ConfigBase::from_config(input);
  std::erase_if(lines, [](const CLI::ConfigItem& item) { return IsInEnvironment(item.name); });
  return lines;
}

}  // namespace skiplane::config
