// One run of a program: text in, text out, until it ends or is told to.
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "skiplane/task.h"

namespace skiplane::cli {

class GroupKeeper;

struct Program {
  // The program, found on the PATH, and its arguments.
  std::vector<std::string> argv{};
  // "NAME=value", all of them.
  std::vector<std::string> environment{};
  std::string input{};
  // Whether its standard output is collected; otherwise it goes where ours goes.
  bool keeps_output = false;
  // How long after SIGTERM SIGKILL follows.
  absl::Duration kill_after = absl::Seconds(10);
  // How long it may run before it is stopped.
  absl::Duration timeout = absl::InfiniteDuration();
  // A fifo that the program may write its progress into; empty: none. on_progress is told of it.
  std::string progress_path{};
  std::function<void(TaskProgress)> on_progress{};
  // Told of its process group while it runs; may be null.
  GroupKeeper* keeper = nullptr;
};

struct ProgramEnd {
  // Why it could not be started; empty if it was.
  std::string start_error{};
  int exit_code = 0;
  // The signal that ended it; 0 if none did.
  int signal = 0;
  // It ran for `timeout` and was stopped.
  bool has_timed_out = false;
  // With keeps_output; its first kOutputBytesMax, and one more if it is longer.
  std::string output{};
  // The end of what it wrote to standard error.
  std::string error_tail{};
};

// The most of a result, and of an error's text that is kept.
inline constexpr size_t kOutputBytesMax = size_t{1} << 20;
inline constexpr size_t kErrorTailBytes = size_t{8} << 10;

// Runs the program to its end, with its input on standard input; what it writes to standard error
// is also passed on to ours. It is the leader of a process group of its own: a stop request, and
// the end of its time, are SIGTERM to the group, and SIGKILL later. Then nobody of the group is
// left; a program that ends by itself may leave children behind. It does not outlive the thread
// that runs it by more than it needs to act on SIGTERM. SIGPIPE must be ignored.
ProgramEnd RunProgram(const Program& program, const std::stop_token& stop);

// Whether the program can be found and may be run.
bool IsRunnable(const std::string& name);

}  // namespace skiplane::cli
