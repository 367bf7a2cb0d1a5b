// What skiplaned does instead of running the broker. Stateless.
#pragma once

#include "CLI/CLI.hpp"
#include "server/config/config.h"

namespace skiplane::config {

struct Subcommand {
  Command command = Command::kServe;
  const char* name = "";
  const char* description = "";  // for the list of all
  const char* help = "";  // what `skiplaned NAME --help` shows; empty: the same as without a name
};

// Makes `app` take them, and fill of `config` what they alone take. `config` outlives `app`.
void DeclareSubcommands(CLI::App* app, Config* config);

// The one that `app` was given; serve if there was none.
const Subcommand& SubcommandOf(const CLI::App& app);

}  // namespace skiplane::config
