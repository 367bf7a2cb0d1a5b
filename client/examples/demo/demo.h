// The demonstration from listing the files to the proof.
#pragma once

#include "client/examples/demo/options.h"

namespace skiplane::demo {

// Returns the exit code: 0 only if every file was processed and every task ended as succeeded.
int RunDemo(const Options& options);

}  // namespace skiplane::demo
