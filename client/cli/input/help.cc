#include "client/cli/input/help.h"

#include <sstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "client/cli/text/wrap.h"

namespace skiplane::cli {
namespace {

constexpr size_t kWidth = 98;
constexpr size_t kTextWidth = 72;  // beside the column of options

// The positional arguments and subcommands of a command, as they are written.
std::string Arguments(const CLI::App& app) {
  std::string text;
  for (const CLI::Option* const option : app.get_options()) {
    if (!option->get_positional()) continue;
    const bool is_many = option->get_expected_max() > 1;
    const std::string word = absl::StrCat(option->get_name(), is_many ? "..." : "");
    absl::StrAppend(&text, " ", option->get_required() ? word : absl::StrCat("[", word, "]"));
  }
  if (!app.get_subcommands({}).empty()) {
    const bool is_needed = app.get_require_subcommand_min() > 0 || app.get_parent() == nullptr;
    absl::StrAppend(&text, is_needed ? " COMMAND" : " [COMMAND]");
  }
  return text;
}

}  // namespace

std::string Help::make_help(const CLI::App* app, std::string name,
                            CLI::AppFormatMode mode) const {
  if (mode == CLI::AppFormatMode::Sub) return make_expanded(app);
  const std::string groups = make_groups(app, mode);
  const std::string text = absl::StrCat(make_usage(app, name), make_description(app),
                                        make_subcommands(app, mode), make_positionals(app), groups,
                                        make_footer(app));
  return absl::StrReplaceAll(text, {{"\n\n\n", "\n\n"}});
}

std::string Help::make_usage(const CLI::App* app, std::string name) const {
  return absl::StrCat("Usage: ", name.empty() ? app->get_name() : name, " [OPTION...]",
                      Arguments(*app), "\n\n");
}

std::string Help::make_description(const CLI::App* app) const {
  return absl::StrCat(Wrap(app->get_description(), kWidth), "\n");
}

std::string Help::make_subcommand(const CLI::App* app) const {
  std::ostringstream out;
  CLI::detail::format_help(out, app->get_name(),
                           Wrap(FirstSentence(app->get_description()), kTextWidth), column_width_);
  return out.str();
}

std::string Help::make_footer(const CLI::App* app) const {
  std::string text;
  if (!app->get_footer().empty()) absl::StrAppend(&text, "\n", app->get_footer(), "\n");
  if (app->get_parent() != nullptr) {
    absl::StrAppend(&text, "\nskiplane --help shows the options of all commands.\n");
  }
  return text;
}

std::string Help::make_option_name(const CLI::Option* option, bool is_positional) const {
  return absl::StrReplaceAll(CLI::Formatter::make_option_name(option, is_positional),
                             {{"{2}", "[=SECONDS]"}});
}

std::string Help::make_option_opts(const CLI::Option* option) const {
  std::string text;
  if (option->get_expected_min() > 0 && !option->get_positional()) {
    absl::StrAppend(&text, " ", option->get_type_name());
  }
  if (!option->get_default_str().empty()) {
    absl::StrAppend(&text, ", default ", option->get_default_str());
  }
  if (!option->get_envname().empty()) absl::StrAppend(&text, "  ($", option->get_envname(), ")");
  return text;
}

std::string Help::make_option_desc(const CLI::Option* option) const {
  return Wrap(option->get_description(), kTextWidth);
}

}  // namespace skiplane::cli
