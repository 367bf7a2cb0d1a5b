// fork() of a process that catches signals.
#pragma once

#include <sys/types.h>

namespace skiplane::cli {

// As fork(). The child begins with all signals blocked: it still has its parent's handlers, which
// would tell the parent of signals that the child got.
pid_t ForkBlocked();

// In the child, once its handlers are right. May be called between fork and exec.
void UnblockSignals();

}  // namespace skiplane::cli
