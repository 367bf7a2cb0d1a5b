// How commands declare what they take: each function adds one option or positional argument to a
// command of CLI11 and says where its value goes. A name without dashes is a positional argument.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"

// CLI11 is one header that takes seconds to compile; who only declares options need not see it.
namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace skiplane::cli {

// What was declared, to say more of it.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}

  Option Required();
  // What stands for the value in --help, as in "--etag TEXT".
  Option Type(const std::string& name);
  // What --help tells of the value that holds without the option.
  Option Default(const std::string& text);
  // The heading in --help.
  Option Group(const std::string& name);
  // The environment variable that it may be given in.
  Option Variable(const std::string& name);
  // Takes all the words that follow it, up to the next option.
  Option TakesMany();

 private:
  CLI::Option* option_;
};

// CLI11 takes a value in brackets for a list, which would cut a payload like [1,2] in pieces. What
// begins like one is marked before CLI11 sees it; the functions below take the mark off.
std::vector<std::string> MarkBrackets(std::vector<std::string> arguments);

Option AddText(CLI::App* app, const std::string& name, std::string* value,
               const std::string& help);

// One value each time that the option is given, or all the positional arguments that are left.
Option AddTexts(CLI::App* app, const std::string& name, std::vector<std::string>* values,
                const std::string& help);

Option AddDuration(CLI::App* app, const std::string& name,
                   std::optional<absl::Duration>* value, const std::string& help);

Option AddInstant(CLI::App* app, const std::string& name, std::optional<absl::Time>* value,
                  const std::string& help);

Option AddNumber(CLI::App* app, const std::string& name, std::optional<int>* value,
                 const std::string& help);

Option AddSwitch(CLI::App* app, const std::string& name, bool* value,
                 const std::string& help);

// `set` gets the text; it may refuse it with CLI::ValidationError.
Option AddSetter(CLI::App* app, const std::string& name,
                 std::function<void(const std::string&)> set, const std::string& help);

}  // namespace skiplane::cli
