// skiplane work: a worker for any program.
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <iostream>
#include <mutex>
#include <thread>

#include "absl/strings/str_cat.h"
#include "client/cli/base/exit_code.h"
#include "client/cli/base/interrupt.h"
#include "client/cli/command/commands.h"
#include "client/cli/input/option.h"
#include "client/cli/options/work_options.h"
#include "client/cli/text/table.h"
#include "client/cli/work/attempt_log.h"
#include "client/cli/work/group_keeper.h"
#include "client/cli/work/spawn.h"
#include "client/cli/work/task_files.h"
#include "client/cli/work/task_program.h"
#include "skiplane/worker.h"

namespace skiplane::cli {
namespace {

constexpr int kSignalsTold = 2;
constexpr std::chrono::minutes kSayAgainAfter(1);

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
    const auto now = std::chrono::steady_clock::now();
    if (text == last_ && now - told_ < kSayAgainAfter) return;
    last_ = text;
    told_ = now;
    std::cerr << absl::StrCat("skiplane: ", text,
                              absl::IsUnauthenticated(status) ? "; trying again\n" : "\n");
  }

 private:
  std::mutex mutex_;
  std::string last_;
  std::chrono::steady_clock::time_point told_;
};

// What keeps this machine from running any task: the tasks are not to blame.
class MachineFault {
 public:
  // The first one counts.
  void Set(const absl::Status& status) {
    const std::lock_guard<std::mutex> lock(mutex_);
    status_.Update(status);
  }

  absl::Status status() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return status_;
  }

 private:
  mutable std::mutex mutex_;
  absl::Status status_;
};

// What all runs have in common.
struct RunContext {
  const WorkOptions& options;
  const WorkRules& rules;
  const Scratch& scratch;
  const std::vector<std::string>& environment;
  GroupKeeper& keeper;
  AttemptLog& log;
  MachineFault& fault;
  Interrupt& interrupt;
};

Result Run(const RunContext& context, const LeasedTask& task, Attempt& attempt) {
  context.log.Began(task);
  const auto files = TaskFiles::Make(context.scratch, task, ToFileRules(context.options));
  if (!files.ok()) {
    context.log.Ran(task, {.start_error = std::string(files.status().message())});
    context.fault.Set(files.status());
    context.interrupt.Wake();
    return Result::Release();
  }
  Program program{.argv = files->Arguments(context.options.command),
                  .environment = EnvironmentOf(task, context.environment),
                  .input = context.options.payload_file ? "" : task.payload,
                  .keeps_output = context.rules.keeps_result,
                  .kill_after = context.rules.kill_after,
                  .timeout = context.rules.timeout,
                  .progress_path = files->progress_path(),
                  .on_progress = [&](TaskProgress now) { attempt.Report(std::move(now)); },
                  .keeper = &context.keeper};
  files->AddTo(&program.environment);
  const ProgramEnd end = RunProgram(program, attempt.stop_token());
  context.log.Ran(task, end);
  Result result = ResultOf(end, context.rules);
  if (result.kind() != Result::Kind::kDone || !context.options.output_files) return result;
  return WithMore(std::move(result), files->ReadMore(task), end.error_tail);
}

// Returns when the worker has come to its end, or is told to stop, or this machine fails, and it
// has stopped.
absl::Status RunToEnd(Worker& worker, Interrupt& interrupt, const MachineFault& fault,
                      const std::atomic<bool>& is_dismissed, bool has_end) {
  std::atomic<bool> has_ended = false;
  std::atomic<bool> has_stopped = false;
  absl::Status end;
  std::thread ending([&] {
    end = worker.WaitForEnd();
    has_ended = true;
    interrupt.Wake();
  });
  bool is_told = false;
  while (!is_told && !has_ended && fault.status().ok()) is_told = interrupt.Wait(absl::Hours(1));
  if (!fault.status().ok()) {
    std::cerr << absl::StrCat("skiplane: stopping: ", Explain(fault.status()), "\n");
  } else if (is_told) {
    std::cerr << "skiplane: stopping\n";
  }
  std::thread stopping([&] {
    worker.Stop();
    has_stopped = true;
    interrupt.Wake();
  });
  while (!has_stopped) {
    if (!interrupt.Wait(absl::Hours(1))) continue;
    std::cerr << "skiplane: stopping the programs\n";
    worker.EndGrace();
  }
  ending.join();
  stopping.join();
  if (const absl::Status status = fault.status(); !status.ok()) return status;
  if (is_dismissed) return absl::OkStatus();
  if (!is_told) return end;
  return has_end ? Interrupted("stopped before its end") : absl::OkStatus();
}

void Tell(WorkerCommand command) {
  switch (command) {
    case WorkerCommand::kRun:
      std::cerr << "skiplane: working again, as an operator asks\n";
      return;
    case WorkerCommand::kQuiet:
      std::cerr << "skiplane: an operator asks this worker to take no more tasks: waiting\n";
      return;
    case WorkerCommand::kStop:
      std::cerr << "skiplane: stopping: an operator asks this worker to stop\n";
      return;
  }
}

void TellSum(const WorkerCounts& counts, size_t unknown) {
  std::cerr << absl::StrCat("skiplane: ", counts.done, " done, ", counts.retried, " retried, ",
                            counts.failed, " failed, ", counts.released, " released, ",
                            counts.cancelled, " cancelled, ", counts.lost, " lost",
                            unknown > 0 ? absl::StrCat(", ", unknown, " unknown") : "", "\n");
}

absl::Status Work(Session& session, const WorkOptions& options) {
  if (options.command.empty()) {
    return UsageError("work QUEUE... -- COMMAND ARG...: the command stands after --");
  }
  if (!IsRunnable(options.command[0])) {
    return LocalError(absl::StrCat("cannot run ", OneLine(options.command[0]),
                                   ": it is missing, or not executable"));
  }
  const absl::StatusOr<WorkRules> rules = ToRules(options);
  if (!rules.ok()) return rules.status();
  auto log = AttemptLog::Open(options.log);
  if (!log.ok()) return log.status();
  // Before the folder is made: a signal would leave it behind.
  Interrupt interrupt({.told = kSignalsTold, .with_hangup = true});
  auto scratch = ToFileRules(options).any() ? Scratch::Make() : Scratch();
  if (!scratch.ok()) return scratch.status();

  signal(SIGPIPE, SIG_IGN);  // a program need not read its input
  RaiseFileLimit();
  const std::vector<std::string> environment = OwnEnvironment();
  Complaints complaints;
  MachineFault fault;
  GroupKeeper keeper(rules->kill_after, scratch->path());
  WorkerOptions worker_options = ToWorkerOptions(options);
  worker_options.on_error = [&](const absl::Status& status) { complaints.Tell(status); };
  worker_options.on_attempt_end = [&](const LeasedTask& task, AttemptEnd end) {
    (*log)->Settled(task, end);
  };
  std::atomic<bool> is_dismissed = false;
  worker_options.on_command = [&](WorkerCommand command) {
    if (command == WorkerCommand::kStop) is_dismissed = true;
    Tell(command);
  };
  const RunContext context{.options = options,
                           .rules = *rules,
                           .scratch = *scratch,
                           .environment = environment,
                           .keeper = keeper,
                           .log = **log,
                           .fault = fault,
                           .interrupt = interrupt};
  auto worker = Worker::Start(
      session.client(), std::move(worker_options),
      [&](const LeasedTask& task, Attempt& attempt) { return Run(context, task, attempt); });
  if (!worker.ok()) return UsageError(worker.status().message());
  std::cerr << "skiplane: working\n";
  const absl::Status status = RunToEnd(**worker, interrupt, fault, is_dismissed, options.has_end());
  TellSum((*worker)->counts(), (*log)->unknown());
  return status;
}

}  // namespace

void DeclareWork(CLI::App* app, Plan* plan) {
  const auto options = std::make_shared<WorkOptions>();
  CLI::App* const work = AddCommand(
      app, plan, "work",
      "Runs a program for each task, as many at once as --concurrency says.\n\n"
      "The payload is the program's standard input. Its environment has SKIPLANE_TASK_ID, "
      "SKIPLANE_QUEUE, SKIPLANE_STAGE, SKIPLANE_KEY, SKIPLANE_ATTEMPT, SKIPLANE_MAX_ATTEMPTS, "
      "SKIPLANE_PRIORITY, SKIPLANE_CONTENT_TYPE and SKIPLANE_HEADER_NAME for each header; and of "
      "earlier attempts, empty if there is none, SKIPLANE_LAST_ERROR_TYPE, SKIPLANE_LAST_ERROR, "
      "SKIPLANE_LAST_PROGRESS and SKIPLANE_LAST_PROGRESS_MESSAGE.\n\n"
      "Exit code 0: the task is done. One of --fail-codes: it has failed for good. Any other, as "
      "75 (EX_TEMPFAIL), and death by a signal: it runs again as the queue's retry policy says; "
      "the end of standard error is kept as the error's text. When the lease is lost, as after the "
      "queue's max_run_duration, when the task is cancelled, and after --timeout, the program and "
      "its children get SIGTERM, later SIGKILL, and the next task has its turn.\n\n"
      "With --output-files, a program that ends with 0 leaves what comes after its task: in "
      "SKIPLANE_FOLLOW_UPS_FILE tasks that are made together with the ack, a JSON object per "
      "line as in enqueue --jsonl, with a member queue; in SKIPLANE_NEXT_PAYLOAD_FILE the "
      "payload for the next stage. If they are wrong, the attempt has failed: its error names the "
      "line that cannot be read, or is the broker's refusal. While it runs, lines like "
      "'40% encoding' in SKIPLANE_PROGRESS_FILE tell how far it has come.\n\n"
      "SIGTERM, SIGHUP or Ctrl-C end the worker: it leases nothing more, lets programs end "
      "within --grace, then stops them and releases their tasks. A second one, a second later "
      "or more, stops them at once, the third ends the worker itself; its programs get SIGTERM, "
      "later SIGKILL, however it ends. An operator's 'workers stop' does what a first signal "
      "does, and the exit code is 0.\n\n"
      "--burst and --max-tasks end it with 0 whatever became of the tasks, or as a failed call "
      "says when a burst gets no tasks because the broker refuses or is away; with 130 if a "
      "signal came first. A worker that cannot make the files of a task releases it, uncharged, "
      "and ends with 5.",
      options, Work);
  AddTexts(work, "QUEUE", &options->queues,
           "QUEUE or QUEUE:STAGE, one or several; then -- and the command with its arguments")
      .Required();
  AddWorkOptions(work, options.get());
  TakeRest(work, plan, &options->command);
  AddExamples(work, {"skiplane work mail -c 4 -- ./send-mail --quiet",
                     "skiplane work video:encode --lease-duration 1m -- ffmpeg -i - out.mp4",
                     "skiplane work thumbnails --timeout 90s -- ./thumbnail",
                     "skiplane work words --result -- wc -w",
                     "skiplane work scans --payload-file --burst --log work.log -- ocr {}"});
}

}  // namespace skiplane::cli
