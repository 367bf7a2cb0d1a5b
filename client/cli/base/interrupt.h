// The signals that ask a command to end, as something that it waits for: SIGINT (Ctrl-C) and
// SIGTERM.
//
// What comes within a second of the one that was told last is the same one: `timeout` signals its
// program and then the program's group, and a terminal signals all of its group. A signal that was
// ignored when the process began stays ignored, as for nohup.
#pragma once

#include "absl/time/time.h"

namespace skiplane::cli {

struct InterruptOptions {
  // How many are told; the one after that ends the process at once, as if nobody had asked.
  int told = 1;
  // SIGHUP, too: the terminal is gone.
  bool with_hangup = false;
  // A new size of the terminal wakes.
  bool with_resize = false;
  // Called before the process ends at once; it may do only what a signal handler may.
  void (*at_end)() = nullptr;
};

class Interrupt {
 public:
  // From here on the signals are caught. One at a time in a process.
  explicit Interrupt(InterruptOptions options = {});
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  // Returns after `at_most`, as soon as there is a signal that was not told yet: true, or when it
  // is woken. With a descriptor also when that can be read.
  bool Wait(absl::Duration at_most, int descriptor = -1);

  // Ends the Wait that is under way, or else the next one. From any thread.
  void Wake();
};

}  // namespace skiplane::cli
