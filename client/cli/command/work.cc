// skiplane work: a worker for any program.
#include <signal.h>
#include <unistd.h>

#include <iostream>
#include <mutex>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "client/cli/base/exit_code.h"
#include "client/cli/base/interrupt.h"
#include "client/cli/command/commands.h"
#include "client/cli/input/option.h"
#include "client/cli/text/table.h"
#include "client/cli/work/group_keeper.h"
#include "client/cli/work/spawn.h"
#include "client/cli/work/task_program.h"
#include "skiplane/worker.h"

namespace skiplane::cli {
namespace {

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
  bool strict = false;
  bool result = false;
};

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

std::vector<std::string> OwnEnvironment() {
  std::vector<std::string> variables;
  for (char** next = environ; *next != nullptr; ++next) variables.emplace_back(*next);
  return variables;
}

// A broker that is away says the same thing every second.
class Complaints {
 public:
  void Tell(const absl::Status& status) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const std::string text = Explain(status);
    if (text == last_) return;
    last_ = text;
    std::cerr << absl::StrCat("skiplane: ", text, "\n");
  }

 private:
  std::mutex mutex_;
  std::string last_;
};

WorkerOptions ToWorkerOptions(const WorkOptions& options, Complaints& complaints) {
  WorkerOptions worker{.strict_order = options.strict,
                       .concurrency = options.concurrency.value_or(1),
                       .lease_duration = options.lease_duration.value_or(absl::Seconds(30)),
                       .stop_grace = options.grace.value_or(absl::Seconds(30)),
                       .name = options.name};
  for (const std::string& queue : options.queues) {
    const std::pair<std::string, std::string> parts =
        absl::StrSplit(queue, absl::MaxSplits(':', 1));
    worker.queues.push_back({.name = parts.first, .stage = parts.second});
  }
  worker.on_error = [&complaints](const absl::Status& status) { complaints.Tell(status); };
  return worker;
}

absl::StatusOr<WorkRules> ToRules(const WorkOptions& options) {
  WorkRules rules{.keeps_result = options.result,
                  .kill_after = options.kill_after.value_or(absl::Seconds(10)),
                  .timeout = options.timeout.value_or(absl::InfiniteDuration())};
  if (rules.timeout <= absl::ZeroDuration()) {
    return UsageError("--timeout: a program needs more than no time");
  }
  if (options.fail_codes.empty()) return rules;
  auto codes = ParseCodes(options.fail_codes);
  if (!codes.ok()) return codes.status();
  rules.fail_codes = *std::move(codes);
  return rules;
}

absl::Status Work(Session& session, const WorkOptions& options) {
  if (options.command.empty()) {
    return UsageError("work QUEUE... -- COMMAND ARG...: the command stands after --");
  }
  if (!IsRunnable(options.command[0])) {
    return LocalError(absl::StrCat("cannot run ", OneLine(options.command[0])));
  }
  const absl::StatusOr<WorkRules> rules = ToRules(options);
  if (!rules.ok()) return rules.status();

  signal(SIGPIPE, SIG_IGN);  // a program need not read its input
  RaiseFileLimit();
  const std::vector<std::string> environment = OwnEnvironment();
  Complaints complaints;
  Interrupt interrupt;
  GroupKeeper keeper(rules->kill_after);
  auto worker = Worker::Start(
      session.client(), ToWorkerOptions(options, complaints),
      [&](const LeasedTask& task, Attempt& attempt) {
        const Program program{.argv = options.command,
                              .environment = EnvironmentOf(task, environment),
                              .input = task.payload,
                              .keeps_output = rules->keeps_result,
                              .kill_after = rules->kill_after,
                              .timeout = rules->timeout,
                              .keeper = &keeper};
        return ResultOf(RunProgram(program, attempt.stop_token()), *rules);
      });
  if (!worker.ok()) return UsageError(worker.status().message());
  std::cerr << "skiplane: working\n";
  while (!interrupt.Wait(absl::Hours(1))) {
  }
  std::cerr << "skiplane: stopping\n";
  (*worker)->Stop();
  const WorkerCounts counts = (*worker)->counts();
  std::cerr << absl::StrCat("skiplane: ", counts.done, " done, ", counts.retried, " retried, ",
                            counts.failed, " failed, ", counts.released, " released, ",
                            counts.lost, " lost\n");
  return absl::OkStatus();
}

void AddWorkOptions(CLI::App* app, WorkOptions* options) {
  AddNumber(app, "--concurrency,-c", &options->concurrency, "Programs at once, 1 to 1000")
      .Default("1");
  AddSwitch(app, "--result", &options->result,
            "What the program writes to standard output, up to 1 MiB, is the task's result");
  AddText(app, "--fail-codes", &options->fail_codes,
          "Exit codes after which a task has failed for good")
      .Type("N,...")
      .Default("65");
  AddDuration(app, "--grace", &options->grace,
              "How long running programs may go on after SIGTERM or Ctrl-C")
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

}  // namespace

void DeclareWork(CLI::App* app, Plan* plan) {
  const auto options = std::make_shared<WorkOptions>();
  CLI::App* const work = AddCommand(
      app, plan, "work",
      "Runs a program for each task, as many at once as --concurrency says.\n\n"
      "The payload is the program's standard input. Its environment has SKIPLANE_TASK_ID, "
      "SKIPLANE_QUEUE, SKIPLANE_STAGE, SKIPLANE_KEY, SKIPLANE_ATTEMPT, SKIPLANE_MAX_ATTEMPTS, "
      "SKIPLANE_PRIORITY, SKIPLANE_CONTENT_TYPE and SKIPLANE_HEADER_NAME for each header.\n\n"
      "Exit code 0: the task is done. One of --fail-codes: it has failed for good. Any other, as "
      "75 (EX_TEMPFAIL), and death by a signal: it runs again as the queue's retry policy says; "
      "the end of standard error is kept as the error's text. When the lease is lost, as after the "
      "queue's max_run_duration, when the task is cancelled, and after --timeout, the program and "
      "its children get SIGTERM, later SIGKILL, and the next task has its turn.\n\n"
      "SIGTERM or Ctrl-C end the worker: it leases nothing more, lets programs end within --grace, "
      "then stops them and hands their tasks back. The second Ctrl-C ends it at once; its programs "
      "get SIGTERM, later SIGKILL, however it ends.",
      options, Work);
  AddTexts(work, "QUEUE", &options->queues,
           "QUEUE or QUEUE:STAGE, one or several; then -- and the command with its arguments")
      .Required();
  AddWorkOptions(work, options.get());
  TakeRest(work, plan, &options->command);
  AddExamples(work, {"skiplane work mail -c 4 -- ./send-mail --quiet",
                     "skiplane work video:encode --lease-duration 1m -- ffmpeg -i - out.mp4",
                     "skiplane work thumbnails --timeout 90s -- ./thumbnail",
                     "skiplane work words --result -- wc -w"});
}

}  // namespace skiplane::cli
