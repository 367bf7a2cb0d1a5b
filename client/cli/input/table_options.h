// How a command that lists shows its table.
#pragma once

#include "client/cli/input/plan.h"

namespace skiplane::cli {

// Adds --sort and --columns.
void AddTableOptions(CLI::App* app, Plan* plan);

}  // namespace skiplane::cli
