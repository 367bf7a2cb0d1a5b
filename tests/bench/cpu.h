// CPU time that processes have used so far, from /proc, in steps of a clock tick (10 ms).
#pragma once

#include <sys/types.h>

#include "absl/time/time.h"

namespace skiplane::bench {

// All threads of one process, living and ended; zero if it does not exist.
absl::Duration ProcessCpu(pid_t pid);

// A process, its children that live, and all that it has waited for.
absl::Duration TreeCpu(pid_t pid);

}  // namespace skiplane::bench
