// A program that a test runs: its output is kept, and it is killed when the object goes.
//
// Everything is waited for by a signal (output that arrived, a file that appeared, the end of the
// process) with a generous bound, never by a pause. Thread-safe except for the destructor.
#pragma once

#include <string>
#include <thread>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/app/cluster/child.h"
#include "server/base/mutex.h"

namespace skiplane::testing {

constexpr absl::Duration kGenerous = absl::Seconds(60);

class Process {
 public:
  // Starts `options.argv`; its standard output and error are ours to keep (output_fd is set here).
  // Aborts the test program if it cannot be executed.
  explicit Process(app::ChildOptions options);
  // SIGKILL if it still runs.
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  pid_t pid() const { return child_.pid(); }
  void Signal(int signal) { child_.Signal(signal); }

  // The exit code, or 128 + signal number. Aborts the test program if the bound passes.
  int Wait(absl::Duration bound = kGenerous);

  // What it has written so far.
  std::string output() const;

  // True when `text` has been written; false when the output ended without it, or after the bound.
  bool WaitForOutput(absl::string_view text, absl::Duration bound = kGenerous);

  // True when nobody can write any more: the program has ended, and so has all that it started and
  // that kept its output.
  bool WaitForEndOfOutput(absl::Duration bound = kGenerous);

  // True when `path` exists and is not empty; false when the process ended without it, or after the
  // bound.
  bool WaitForFile(const std::string& path, absl::Duration bound = kGenerous);

 private:
  void Collect();

  int output_fd_ = -1;
  int stop_fd_ = -1;
  app::Child child_;
  mutable base::Mutex mutex_;
  mutable base::CondVar changed_;
  std::string output_ ABSL_GUARDED_BY(mutex_);
  bool output_ended_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread collector_;
};

}  // namespace skiplane::testing
