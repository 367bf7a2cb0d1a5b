// What a worker process of the demonstration does from its start to SIGTERM.
#pragma once

#include "client/examples/demo/options.h"

namespace skiplane::demo {

// Returns the exit code.
int RunWorkerProcess(const Options& options);

}  // namespace skiplane::demo
