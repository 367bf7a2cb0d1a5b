#include "server/config/help.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace skiplane::config {
namespace {

constexpr size_t kTextWidth = 70;  // beside CLI11's 30 columns of flags

}  // namespace

// The text of a switch that has an opposite says its name.
std::string Help::make_option_name(const CLI::Option* option, bool is_positional) const {
  if (option->get_fnames().empty()) return Formatter::make_option_name(option, is_positional);
  return absl::StrCat("--", option->get_lnames().front());
}

std::string Help::make_option_opts(const CLI::Option* option) const {
  std::string text;
  if (option->get_expected_min() > 0) {
    // CLI11 puts a colon between a type and its check; ours have only one of the two.
    absl::StrAppend(&text, " ", absl::StripPrefix(option->get_type_name(), ":"));
  }
  if (!option->get_default_str().empty()) {
    absl::StrAppend(&text, ", default ", option->get_default_str());
  }
  if (!option->get_envname().empty()) absl::StrAppend(&text, "  ($", option->get_envname(), ")");
  return text;
}

std::string Help::make_option_desc(const CLI::Option* option) const {
  std::string text;
  size_t line_length = 0;
  for (const absl::string_view word : absl::StrSplit(option->get_description(), ' ')) {
    const bool fits = line_length + 1 + word.size() <= kTextWidth;
    if (!text.empty()) text.push_back(fits ? ' ' : '\n');
    line_length = fits ? line_length + 1 + word.size() : word.size();
    absl::StrAppend(&text, word);
  }
  return text;
}

}  // namespace skiplane::config
