// What skiplane work is told.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/cli/work/task_files.h"
#include "client/cli/work/task_program.h"
#include "skiplane/worker_options.h"

namespace CLI {
class App;
}  // namespace CLI

namespace skiplane::cli {

struct WorkOptions {
  std::vector<std::string> queues{};
  std::vector<std::string> command{};
  std::optional<int> concurrency{};
  std::optional<absl::Duration> lease_duration{};
  std::optional<absl::Duration> grace{};
  std::optional<absl::Duration> kill_after{};
  std::optional<absl::Duration> timeout{};
  std::string fail_codes{};
  std::string name{};
  std::string log{};
  std::optional<int> max_tasks{};
  bool strict = false;
  bool result = false;
  bool burst = false;
  bool payload_file = false;
  bool output_files = false;

  // Whether it ends by itself.
  bool has_end() const { return burst || max_tasks.has_value(); }
};

void AddWorkOptions(CLI::App* app, WorkOptions* options);

// Without the functions that it may call.
WorkerOptions ToWorkerOptions(const WorkOptions& options);

// What becomes of programs and of what they leave.
absl::StatusOr<WorkRules> ToRules(const WorkOptions& options);

FileRules ToFileRules(const WorkOptions& options);

}  // namespace skiplane::cli
