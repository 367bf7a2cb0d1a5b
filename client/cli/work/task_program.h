// How a task becomes a run of a program, and the run a result.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/cli/work/program.h"
#include "skiplane/result.h"
#include "skiplane/task.h"

namespace skiplane::cli {

struct WorkRules {
  // Exit codes after which the task has failed for good.
  std::set<int> fail_codes{65};  // EX_DATAERR
  bool keeps_result = false;
  absl::Duration kill_after = absl::Seconds(10);
  absl::Duration timeout = absl::InfiniteDuration();
};

// The program's environment: ours, and what is known of the task. A header "Trace-Parent" is
// SKIPLANE_HEADER_TRACE_PARENT.
std::vector<std::string> EnvironmentOf(const LeasedTask& task,
                                       const std::vector<std::string>& ours);

// 0 is done, one of fail_codes has failed for good, everything else runs again, as does what was
// stopped because its time was over.
Result ResultOf(ProgramEnd end, const WorkRules& rules);

// What is done with what comes after it. If that cannot be read, the attempt has failed.
Result WithMore(Result result, absl::StatusOr<AckMore> more, const std::string& error_tail);

}  // namespace skiplane::cli
