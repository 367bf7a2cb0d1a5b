// How commands declare what they take: each function adds one option or positional argument to a
// command of CLI11 and says where its value goes. A name without dashes is a positional argument.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/time/time.h"

namespace skiplane::cli {

// CLI11 takes a value in brackets for a list, which would cut a payload like [1,2] in pieces. What
// begins like one is marked before CLI11 sees it; the functions below take the mark off.
std::vector<std::string> MarkBrackets(std::vector<std::string> arguments);

CLI::Option* AddText(CLI::App* app, const std::string& name, std::string* value,
                     const std::string& help);

// One value each time that the option is given, or all the positional arguments that are left.
CLI::Option* AddTexts(CLI::App* app, const std::string& name, std::vector<std::string>* values,
                      const std::string& help);

CLI::Option* AddDuration(CLI::App* app, const std::string& name,
                         std::optional<absl::Duration>* value, const std::string& help);

CLI::Option* AddInstant(CLI::App* app, const std::string& name, std::optional<absl::Time>* value,
                        const std::string& help);

CLI::Option* AddNumber(CLI::App* app, const std::string& name, std::optional<int>* value,
                       const std::string& help);

CLI::Option* AddSwitch(CLI::App* app, const std::string& name, bool* value,
                       const std::string& help);

}  // namespace skiplane::cli
