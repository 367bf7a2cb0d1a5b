// What `skiplaned serve` does from its start to its end.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "server/app/signals.h"
#include "server/config/config.h"

namespace skiplane::app {

// Returns when a signal has ended it in order, or with why it cannot run. `arguments` are what
// `config` was made of.
absl::Status Serve(const std::vector<std::string>& arguments, const config::Config& config,
                   Signals& signals);

}  // namespace skiplane::app
