// Ctrl-C and SIGTERM as something that a command waits for. The first one is told here; the second
// one ends the process at once, as if nobody had asked.
#pragma once

#include "absl/time/time.h"

namespace skiplane::cli {

class Interrupt {
 public:
  // From here on the signals are caught. One at a time in a process.
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  // Returns after `at_most`, or as soon as there is a signal: true.
  bool Wait(absl::Duration at_most);

  bool came() { return Wait(absl::ZeroDuration()); }
};

}  // namespace skiplane::cli
