#include "client/cli/options/work_options.h"

#include <set>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "client/cli/base/exit_code.h"
#include "client/cli/input/option.h"

namespace skiplane::cli {
namespace {

absl::StatusOr<std::set<int>> ParseCodes(const std::string& text) {
  std::set<int> codes;
  for (const absl::string_view word : absl::StrSplit(text, ',', absl::SkipEmpty())) {
    int code = 0;
    if (!absl::SimpleAtoi(word, &code) || code < 1 || code > 255) {
      return UsageError(absl::StrCat("--fail-codes: '", word, "' is not 1 to 255"));
    }
    codes.insert(code);
  }
  return codes;
}

}  // namespace

WorkerOptions ToWorkerOptions(const WorkOptions& options) {
  WorkerOptions worker{.strict_order = options.strict,
                       .concurrency = options.concurrency.value_or(1),
                       .lease_duration = options.lease_duration.value_or(absl::Seconds(30)),
                       .burst = options.burst,
                       .max_tasks = options.max_tasks.value_or(0),
                       .stop_grace = options.grace.value_or(absl::Seconds(30)),
                       .name = options.name};
  for (const std::string& queue : options.queues) {
    const std::pair<std::string, std::string> parts =
        absl::StrSplit(queue, absl::MaxSplits(':', 1));
    worker.queues.push_back({.name = parts.first, .stage = parts.second});
  }
  return worker;
}

absl::StatusOr<WorkRules> ToRules(const WorkOptions& options) {
  WorkRules rules{.keeps_result = options.result,
                  .kill_after = options.kill_after.value_or(absl::Seconds(10)),
                  .timeout = options.timeout.value_or(absl::InfiniteDuration())};
  if (rules.timeout <= absl::ZeroDuration()) {
    return UsageError("--timeout: a program needs more than no time");
  }
  if (options.max_tasks && *options.max_tasks < 1) return UsageError("--max-tasks is 1 or more");
  if (options.fail_codes.empty()) return rules;
  auto codes = ParseCodes(options.fail_codes);
  if (!codes.ok()) return codes.status();
  rules.fail_codes = *std::move(codes);
  return rules;
}

FileRules ToFileRules(const WorkOptions& options) {
  return {.payload = options.payload_file, .output = options.output_files};
}

void AddWorkOptions(CLI::App* app, WorkOptions* options) {
  AddNumber(app, "--concurrency,-c", &options->concurrency, "Programs at once, 1 to 1000")
      .Default("1");
  AddSwitch(app, "--result", &options->result,
            "What the program writes to standard output, up to 1 MiB, is the task's result: kept "
            "if the queue has --keep-results yes");
  AddSwitch(app, "--payload-file", &options->payload_file,
            "The payload is a file, not standard input: {} in the arguments stands for its path, "
            "SKIPLANE_PAYLOAD_FILE names it, and it is removed when the program has ended");
  AddSwitch(app, "--output-files", &options->output_files,
            "The program may write files that SKIPLANE_FOLLOW_UPS_FILE, SKIPLANE_NEXT_PAYLOAD_FILE "
            "and SKIPLANE_PROGRESS_FILE name: see above");
  AddSwitch(app, "--burst", &options->burst,
            "End when nothing is ready and nothing runs; what is scheduled for later does not "
            "count");
  AddNumber(app, "--max-tasks", &options->max_tasks, "End after this many tasks")
      .Default("no end");
  AddText(app, "--log", &options->log,
          "Append a line for each attempt, without payloads; - is standard error")
      .Type("FILE");
  AddText(app, "--fail-codes", &options->fail_codes,
          "Exit codes after which a task has failed for good")
      .Type("N,...")
      .Default("65");
  AddDuration(app, "--grace", &options->grace,
              "How long running programs may go on after SIGTERM, SIGHUP or Ctrl-C")
      .Default("30s");
  AddDuration(app, "--kill-after", &options->kill_after,
              "How long after its SIGTERM a program gets SIGKILL")
      .Default("10s");
  AddDuration(app, "--timeout", &options->timeout,
              "How long a program may run: then it is stopped, and its task runs again as the "
              "queue's retry policy says; before the command's name, how long a call may take")
      .Default("no end");
  AddDuration(app, "--lease-duration", &options->lease_duration,
              "How long after this worker's last sign of life its tasks go to others")
      .Default("30s");
  AddText(app, "--name", &options->name, "The worker's name for people")
      .Default("host:pid");
  AddSwitch(app, "--strict", &options->strict,
            "Ask later queues only when the earlier ones have nothing ready");
}

}  // namespace skiplane::cli
