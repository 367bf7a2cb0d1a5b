// skiplane errors: failures that are the same fault, together.
#include "client/cli/base/exit_code.h"
#include "client/cli/command/bulk.h"
#include "client/cli/command/commands.h"
#include "client/cli/command/show.h"
#include "client/cli/input/option.h"
#include "client/cli/input/table_options.h"
#include "client/src/convert_time.h"

namespace skiplane::cli {
namespace {

using internal::AdminMethods;

struct ErrorOptions {
  std::string queue{};
  std::string stage{};
  std::string fingerprint{};
  std::string note{};
  bool hide_muted = false;
  bool dry_run = false;
  std::optional<int> limit{};
};

absl::Status List(Session& session, const ErrorOptions& options) {
  v1::ListErrorGroupsRequest request;
  request.set_queue(options.queue);
  request.set_stage(options.stage);
  request.set_hide_muted(options.hide_muted);
  Columns columns{{"FINGERPRINT", "fingerprint"},
                  {"STAGE", "stage"},
                  {"RETRYING", "retrying_count"},
                  {"FAILED", "failed_count"},
                  {"FIRST SEEN", "first_seen_time"},
                  {"LAST SEEN", "last_seen_time"},
                  {"MUTED", "note.muted"},
                  {"NOTE", "note.text"},
                  {"TYPE", "type"},
                  {"TEXT", "text"}};
  if (options.queue.empty()) columns.insert(columns.begin(), {"QUEUE", "queue"});
  return ShowPages<v1::ListErrorGroupsRequest, v1::ListErrorGroupsResponse>(
      session, std::move(request), &AdminMethods::ListErrorGroups,
      [](const v1::ListErrorGroupsResponse& page) { return page.groups(); }, columns,
      options.limit.value_or(100));
}

// The tasks that RetryErrorGroup means.
absl::Status CountToRetry(Session& session, const ErrorOptions& options) {
  if (options.fingerprint.empty()) return UsageError("FINGERPRINT is empty");  // a filter for all
  BulkPlan plan{.verb = "retry", .dry_run = true};
  plan.filter.set_queue(options.queue);
  plan.filter.set_stage(options.stage);
  plan.filter.set_fingerprint(options.fingerprint);
  for (const auto state :
       {v1::TASK_STATE_SCHEDULED, v1::TASK_STATE_READY, v1::TASK_STATE_FAILED}) {
    plan.filter.add_states(state);
  }
  plan.action.mutable_retry();
  return RunBulk(session, plan);
}

absl::Status Retry(Session& session, const ErrorOptions& options) {
  if (options.dry_run) return CountToRetry(session, options);
  v1::RetryErrorGroupRequest request;
  request.set_queue(options.queue);
  request.set_stage(options.stage);
  request.set_fingerprint(options.fingerprint);
  // The progress bar waits, not the call.
  internal::ToProto(absl::Milliseconds(300), request.mutable_wait());
  Interrupt interrupt;
  auto answer = session.Call<v1::RetryErrorGroupRequest, v1::RetryErrorGroupResponse>(
      std::move(request), &AdminMethods::RetryErrorGroup);
  if (!answer.ok()) return answer.status();
  return FollowAndTell(session, std::move(*answer->mutable_operation()), interrupt);
}

absl::Status Annotate(Session& session, v1::AnnotateErrorGroupRequest request,
                      const ErrorOptions& options) {
  request.set_queue(options.queue);
  request.set_fingerprint(options.fingerprint);
  const auto answer =
      session.Call<v1::AnnotateErrorGroupRequest, v1::AnnotateErrorGroupResponse>(
          std::move(request), &AdminMethods::AnnotateErrorGroup);
  if (!answer.ok()) return answer.status();
  ShowOne(session, answer->note());
  return absl::OkStatus();
}

absl::Status Note(Session& session, const ErrorOptions& options) {
  v1::AnnotateErrorGroupRequest request;
  request.set_note(options.note);
  return Annotate(session, std::move(request), options);
}

absl::Status Mute(Session& session, const ErrorOptions& options) {
  v1::AnnotateErrorGroupRequest request;
  request.set_muted(true);
  return Annotate(session, std::move(request), options);
}

absl::Status Unmute(Session& session, const ErrorOptions& options) {
  v1::AnnotateErrorGroupRequest request;
  request.set_muted(false);
  return Annotate(session, std::move(request), options);
}

std::shared_ptr<ErrorOptions> AddOfGroup(CLI::App* errors, Plan* plan, const std::string& name,
                                         const std::string& description,
                                         absl::Status (*run)(Session&, const ErrorOptions&)) {
  const auto options = std::make_shared<ErrorOptions>();
  CLI::App* const app = AddCommand(errors, plan, name, description, options, run);
  AddText(app, "QUEUE", &options->queue, "The queue").Required();
  AddText(app, "FINGERPRINT", &options->fingerprint, "The group, as errors list shows it")
      .Required();
  return options;
}

void AddStage(CLI::App* app, const std::shared_ptr<ErrorOptions>& options) {
  AddText(app, "--stage", &options->stage, "Of this stage only");
}

}  // namespace

void DeclareErrors(CLI::App* app, Plan* plan) {
  CLI::App* const errors =
      AddGroup(app, "errors", "Groups failures that are the same fault, and retries them");
  auto options = std::make_shared<ErrorOptions>();
  CLI::App* const list =
      AddView(errors, plan, "list",
              "Lists the error groups of a queue, or of all queues, that still have tasks, the "
              "latest seen first.",
              options, List);
  AddText(list, "QUEUE", &options->queue, "The queue").Default("all");
  AddStage(list, options);
  AddSwitch(list, "--hide-muted", &options->hide_muted, "Without those that are muted");
  AddNumber(list, "--limit", &options->limit, "At most so many; 0: all").Default("100");
  AddTableOptions(list, plan);

  options = AddOfGroup(errors, plan, "retry", "Retries all tasks of an error group now.", Retry);
  AddStage(CommandOf(errors, "retry"), options);
  AddSwitch(CommandOf(errors, "retry"), "--dry-run", &options->dry_run, "Only count");
  options = AddOfGroup(errors, plan, "note",
                       "Sets the note of an error group, for other operators.", Note);
  AddText(CommandOf(errors, "note"), "TEXT", &options->note, "The note; without it there is none");
  AddOfGroup(errors, plan, "mute", "Marks an error group as known: nobody has to look.", Mute);
  AddOfGroup(errors, plan, "unmute", "Takes that back.", Unmute);
}

}  // namespace skiplane::cli
