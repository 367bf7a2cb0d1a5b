// How the program ends, for scripts. The numbers are documented and stay.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace skiplane::cli {

enum ExitCode {
  kOk = 0,
  kRefused = 1,       // the broker refused the call
  kUsage = 2,         // wrong options or a bad line of input: nothing was asked of the broker
  kNotReachable = 3,  // no broker, or its database is away: the same call may be made again
  kNotFound = 4,      // no such queue, task, worker or operation
  kLocal = 5,         // a file cannot be read, a program cannot be started
  kInterrupted = 130,
};

// Failures that are not the broker's, told apart from its refusals of the same code.
absl::Status UsageError(absl::string_view message);
absl::Status LocalError(absl::string_view message);
absl::Status Interrupted(absl::string_view message);

ExitCode ExitCodeOf(const absl::Status& status);

// One line for people: the message, with the broker's reason and the field that it blames.
std::string Explain(const absl::Status& status);

// What to do about it, as a sentence; empty where the message says all that is known.
absl::string_view NextStep(const absl::Status& status);

}  // namespace skiplane::cli
