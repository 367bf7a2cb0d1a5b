#include "client/cli/input/option.h"

#include <functional>
#include <utility>

#include "CLI/CLI.hpp"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "client/cli/text/duration.h"
#include "client/cli/text/instant.h"

namespace skiplane::cli {
namespace {

constexpr char kMark = '\x1f';

std::string WithoutMark(const std::string& text) {
  const bool is_marked = text.size() > 1 && text[0] == kMark && text[1] == '[';
  return is_marked ? text.substr(1) : text;
}

Option Add(CLI::App* app, const std::string& name, const std::string& type,
           const std::string& help, std::function<void(const std::string&)> set) {
  return Option(
      app->add_option_function<std::string>(
             name, [set = std::move(set)](const std::string& text) { set(WithoutMark(text)); },
             help)
          ->type_name(type)
          ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast));
}

// An option whose text is converted by `parse`, which may refuse it.
template <typename Value>
Option AddParsed(CLI::App* app, const std::string& name, const std::string& type,
                 const std::string& help, std::optional<Value>* value,
                 std::function<absl::StatusOr<Value>(const std::string&)> parse) {
  return Add(app, name, type, help, [name, value, parse](const std::string& text) {
    const absl::StatusOr<Value> parsed = parse(text);
    if (!parsed.ok()) throw CLI::ValidationError(name, std::string(parsed.status().message()));
    *value = *parsed;
  });
}

}  // namespace

std::vector<std::string> MarkBrackets(std::vector<std::string> arguments) {
  for (std::string& argument : arguments) {
    if (absl::StartsWith(argument, "[")) argument.insert(argument.begin(), kMark);
  }
  return arguments;
}

Option AddText(CLI::App* app, const std::string& name, std::string* value,
               const std::string& help) {
  return Add(app, name, "TEXT", help, [value](const std::string& text) { *value = text; });
}

Option AddTexts(CLI::App* app, const std::string& name, std::vector<std::string>* values,
                const std::string& help) {
  const bool is_option = absl::StartsWith(name, "-");
  return Option(app->add_option_function<std::vector<std::string>>(
                       name,
                       [values](const std::vector<std::string>& texts) {
                         values->clear();
                         for (const std::string& text : texts) {
                           values->push_back(WithoutMark(text));
                         }
                       },
                       help)
                    ->type_name("TEXT")
                    ->allow_extra_args(!is_option));
}

Option AddDuration(CLI::App* app, const std::string& name,
                   std::optional<absl::Duration>* value, const std::string& help) {
  return AddParsed<absl::Duration>(
      app, name, "DURATION", help, value,
      [](const std::string& text) { return ParseDuration(text); });
}

Option AddInstant(CLI::App* app, const std::string& name, std::optional<absl::Time>* value,
                  const std::string& help) {
  return AddParsed<absl::Time>(app, name, "TIME", help, value,
                               [](const std::string& text) { return ParseInstant(text); });
}

Option AddNumber(CLI::App* app, const std::string& name, std::optional<int>* value,
                 const std::string& help) {
  return AddParsed<int>(app, name, "N", help, value,
                        [](const std::string& text) -> absl::StatusOr<int> {
                          int number = 0;
                          if (absl::SimpleAtoi(text, &number)) return number;
                          return absl::InvalidArgumentError(
                              absl::StrCat("'", text, "' is not a whole number"));
                        });
}

Option AddSwitch(CLI::App* app, const std::string& name, bool* value,
                 const std::string& help) {
  return Option(
      app->add_flag(name, *value, help)->multi_option_policy(CLI::MultiOptionPolicy::TakeLast));
}

Option AddSetter(CLI::App* app, const std::string& name,
                 std::function<void(const std::string&)> set, const std::string& help) {
  return Option(app->add_option_function<std::string>(name, set, help));
}

Option Option::Required() { return Option(option_->required()); }
Option Option::Type(const std::string& name) { return Option(option_->type_name(name)); }
Option Option::Default(const std::string& text) { return Option(option_->default_str(text)); }
Option Option::Group(const std::string& name) { return Option(option_->group(name)); }
Option Option::Variable(const std::string& name) { return Option(option_->envname(name)); }
Option Option::TakesMany() { return Option(option_->allow_extra_args(true)); }

}  // namespace skiplane::cli
