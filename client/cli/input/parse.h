// From the arguments of the process to a plan.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "client/cli/input/plan.h"

namespace skiplane::cli {

// The process ends here: with a text for standard output if the code is 0, else for standard error.
struct EarlyExit {
  int code = 0;
  std::string text{};
};

std::variant<Plan, EarlyExit> Parse(const std::vector<std::string>& everything);

// All commands, for what walks through them: --help of one, completion.
void DeclareEverything(CLI::App* app, Plan* plan);

}  // namespace skiplane::cli
