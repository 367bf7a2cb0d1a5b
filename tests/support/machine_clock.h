// The machine's clock of this process, which a test sets back: absl::Now() and all others that ask
// CLOCK_REALTIME. Steady clocks go on.
#pragma once

#include "absl/time/time.h"

namespace skiplane::test {

// Back by `step` from the true time; zero sets it right. Thread-safe.
void SetMachineClockBack(absl::Duration step);

}  // namespace skiplane::test
