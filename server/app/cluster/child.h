// A program that this process started: its start, its signals and its end.
//
// The child begins with no signal blocked and SIGPIPE as usual, in a session of its own, so that
// Ctrl-C at the terminal reaches only us. Its files are only 0, 1 and 2; open ours with O_CLOEXEC.
// Movable; the destructor neither kills nor waits. Not thread-safe.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/app/cluster/system_user.h"

namespace skiplane::app {

struct ChildOptions {
  std::vector<std::string> argv;  // argv[0] is a path or a name that PATH has
  std::vector<std::string> env;   // "NAME=value", before the variables of this process
  std::string directory = "/";
  std::optional<SystemUser> user;  // who it runs as; only root may change it
  int stdin_fd = -1;               // -1: /dev/null
  int output_fd = -1;              // standard output and error; -1: as ours
  // Sent to the child when the thread that starts it ends, however it ends; 0: nothing. So start
  // the child from a thread that lives as long as the process.
  int death_signal = 0;
};

class Child {
 public:
  // Fails if the program could not be executed.
  static absl::StatusOr<Child> Start(const ChildOptions& options);

  Child(Child&& other) noexcept;
  Child& operator=(Child&& other) noexcept;
  ~Child();

  pid_t pid() const { return pid_; }

  // Nothing happens if the child has ended.
  void Signal(int signal);

  // Waits up to `bound` for the end. Returns the exit code, or 128 + signal number as shells do;
  // nothing if the child still runs. May be asked again after the end.
  std::optional<int> Wait(absl::Duration bound);

  // Readable (poll) when the child has ended.
  int end_fd() const { return end_fd_; }

 private:
  Child(pid_t pid, int end_fd) : pid_(pid), end_fd_(end_fd) {}

  pid_t pid_ = -1;
  int end_fd_ = -1;
  std::optional<int> code_;
};

}  // namespace skiplane::app
