#include "server/config/settings_file.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <sstream>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"

namespace skiplane::config {
namespace {

// Anything else may be a value in the wrong place, as a URI with a password: it is not repeated.
bool IsName(const std::string& text) {
  return !text.empty() && text.size() <= 64 && std::all_of(text.begin(), text.end(), [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' || c == '.';
  });
}

bool TakesSeveral(const CLI::Option* option) { return option->get_delimiter() != '\0'; }

// The values that CLI11 takes from this one.
std::vector<std::string> PartsOf(const CLI::Option* option, const std::string& value) {
  if (!TakesSeveral(option)) return {value};
  return absl::StrSplit(value, option->get_delimiter(), absl::SkipEmpty());
}

// What the check of the option says; each has one at most. Some repeat the value, which must not be
// when it is a URI.
std::string Refusal(CLI::Option* option, std::string value) {
  try {
    const bool may_be_secret = absl::StrContains(value, "://");
    const std::string refusal = (*option->get_validator(0))(value);
    return may_be_secret && absl::StrContains(refusal, value) ? "must not be a URI" : refusal;
  } catch (const CLI::OptionNotFound&) {
    return "";
  }
}

// Throws what is wrong with the value.
void Check(CLI::Option* option, const CLI::ConfigItem& item) {
  const std::string& value = item.inputs.back();
  if (option->get_expected_min() == 0) {  // a switch
    try {
      CLI::detail::to_flag_value(value);
    } catch (const std::exception&) {
      throw CLI::ConfigError(item.name + ": must be true or false");
    }
    return;
  }
  const std::vector<std::string> parts = PartsOf(option, value);
  if (value.empty() || parts.empty()) throw CLI::ConfigError(item.name + ": has no value");
  for (const std::string& part : parts) {
    const std::string refusal = Refusal(option, part);
    if (!refusal.empty()) throw CLI::ConfigError(item.name + ": " + refusal);
  }
}

}  // namespace

std::string EnvironmentName(absl::string_view flag) {
  return absl::StrCat("SKIPLANE_", absl::AsciiStrToUpper(absl::StrReplaceAll(flag, {{"-", "_"}})));
}

bool IsInEnvironment(const std::string& flag) {
  const char* const value = std::getenv(EnvironmentName(flag).c_str());
  return value != nullptr && *value != '\0';
}

SettingsFile::SettingsFile(CLI::App* app) : app_(app) {
  // Characters that no line has switch off comments behind a value and arrays, which would cut
  // passwords and IPv6 addresses to pieces.
  comment('\0');
  arrayBounds('\1', '\2');
  arrayDelimiter('\3');
}

std::vector<CLI::ConfigItem> SettingsFile::from_config(std::istream& input) const {
  std::vector<CLI::ConfigItem> settings;
  std::map<std::string, int> seen;
  int number = 0;
  for (std::string line; std::getline(input, line);) {
    ++number;
    try {
      for (CLI::ConfigItem& item : ReadLine(line)) {
        CLI::Option* const option = Find(item.name);
        const std::string& name = option->get_lnames().front();  // it may have another
        const auto [before, is_new] = seen.emplace(name, number);
        if (!is_new) {
          throw CLI::ConfigError(absl::StrCat(
              item.name, ": stands in line ", before->second, " already",
              TakesSeveral(option) ? "; put all values there, with commas between" : ""));
        }
        if (IsInEnvironment(name) || !option->empty()) continue;  // they win
        Check(option, item);
        settings.push_back(std::move(item));
      }
    } catch (const CLI::ConfigError& error) {
      throw CLI::ConfigError(absl::StrCat(app_->get_config_ptr()->as<std::string>(), " line ",
                                          number, ": ", error.what()));
    }
  }
  return settings;
}

std::vector<CLI::ConfigItem> SettingsFile::ReadLine(const std::string& line) const {
  const absl::string_view text = absl::StripAsciiWhitespace(line);
  if (text.empty() || text.front() == '#' || text.front() == ';') return {};
  std::istringstream stream(line);
  std::vector<CLI::ConfigItem> found = ConfigBase::from_config(stream);
  const bool is_setting = found.size() == 1 && found[0].parents.empty() &&
                          found[0].inputs.size() == 1 && IsName(found[0].name);
  if (!is_setting) {
    throw CLI::ConfigError("must be 'name = value', as in 'listen = 127.0.0.1:7070'");
  }
  return found;
}

CLI::Option* SettingsFile::Find(const std::string& name) const {
  CLI::Option* const option = app_->get_option_no_throw("--" + name);
  if (option != nullptr && option->get_configurable()) return option;
  throw CLI::ConfigError(absl::StrCat(
      option == nullptr ? "there is no setting " : "a file cannot set ", name, ". There are: ",
      Names()));
}

std::string SettingsFile::Names() const {
  std::vector<std::string> names;
  for (const CLI::Option* option : app_->get_options()) {
    if (option->get_configurable()) names.push_back(option->get_lnames().front());
  }
  return absl::StrJoin(names, ", ");
}

}  // namespace skiplane::config
