// skiplane tasks prioritize, reschedule, retry, cancel and delete: of tasks by their ids, or of all
// that match a filter.
#include <functional>

#include "absl/strings/str_cat.h"
#include "client/cli/base/exit_code.h"
#include "client/cli/command/bulk.h"
#include "client/cli/command/commands.h"
#include "client/cli/command/one_task.h"
#include "client/cli/command/show.h"
#include "client/cli/input/option.h"
#include "client/cli/options/filter_options.h"
#include "client/src/convert_time.h"

namespace skiplane::cli {
namespace {

using internal::AdminMethods;

struct ChangeOptions {
  std::vector<std::string> ids{};
  FilterOptions filter{};
  ContentOptions content{};  // of retry
  bool yes = false;
  bool dry_run = false;
  // Of prioritize and reschedule.
  std::optional<int> priority{};
  bool now = false;
  std::optional<absl::Time> at{};
  std::optional<absl::Duration> postpone{};
};

// By ids if there are some, else by the filter: never both.
absl::Status Change(Session& session, const ChangeOptions& options, const std::string& verb,
                    const v1::BulkAction& action,
                    const std::function<absl::Status(const std::string&)>& change_one) {
  if (!options.ids.empty()) {
    if (!options.filter.queue.empty()) return UsageError("give ids or a filter, not both");
    return ForEachId(options.ids, change_one);
  }
  if (options.filter.queue.empty()) {
    return UsageError("which tasks? Give ids, or --queue and a filter");
  }
  absl::StatusOr<v1::TaskFilter> filter = ToFilter(options.filter);
  if (!filter.ok()) return filter.status();
  return RunBulk(session, {.filter = *std::move(filter),
                           .action = action,
                           .verb = verb,
                           .is_sure = options.yes,
                           .dry_run = options.dry_run});
}

absl::Status Prioritize(Session& session, const ChangeOptions& options) {
  if (!options.priority) return UsageError("--priority is missing");
  v1::BulkAction action;
  action.set_set_priority(*options.priority);
  return Change(session, options, "prioritize", action, [&](const std::string& id) {
    v1::PrioritizeTaskRequest request;
    request.set_priority(*options.priority);
    return ChangeOne<v1::PrioritizeTaskRequest, v1::PrioritizeTaskResponse>(
        session, id, std::move(request), &AdminMethods::PrioritizeTask);
  });
}

// BulkAction and RescheduleTaskRequest have the same three members.
template <typename Message>
void SetTime(const ChangeOptions& options, Message& message) {
  if (options.now) message.mutable_run_now();
  if (options.at) internal::ToProto(*options.at, message.mutable_schedule_time());
  if (options.postpone) internal::ToProto(*options.postpone, message.mutable_postpone());
}

absl::Status Reschedule(Session& session, const ChangeOptions& options) {
  if (options.now + options.at.has_value() + options.postpone.has_value() != 1) {
    return UsageError("give one of --now, --at and --postpone");
  }
  v1::BulkAction action;
  SetTime(options, action);
  return Change(session, options, "reschedule", action, [&](const std::string& id) {
    v1::RescheduleTaskRequest request;
    SetTime(options, request);
    return ChangeOne<v1::RescheduleTaskRequest, v1::RescheduleTaskResponse>(
        session, id, std::move(request), &AdminMethods::RescheduleTask);
  });
}

absl::Status Retry(Session& session, const ChangeOptions& options) {
  v1::BulkAction action;
  action.mutable_retry();
  if (options.ids.empty() && options.content.IsAny()) {
    return UsageError("other content is for tasks that are named by their ids");
  }
  return Change(session, options, "retry", action, [&](const std::string& id) -> absl::Status {
    v1::RetryTaskRequest request;
    const absl::Status content = SetContent(session, id, options.content, &request);
    if (!content.ok()) return content;
    return ChangeOne<v1::RetryTaskRequest, v1::RetryTaskResponse>(
        session, id, std::move(request), &AdminMethods::RetryTask);
  });
}

absl::Status Cancel(Session& session, const ChangeOptions& options) {
  v1::BulkAction action;
  action.mutable_cancel();
  return Change(session, options, "cancel", action, [&](const std::string& id) {
    return ChangeOne<v1::CancelTaskRequest, v1::CancelTaskResponse>(session, id, {},
                                                                    &AdminMethods::CancelTask);
  });
}

absl::Status Delete(Session& session, const ChangeOptions& options) {
  v1::BulkAction action;
  action.mutable_delete_();
  return Change(session, options, "delete", action, [&](const std::string& id) {
    v1::DeleteTaskRequest request;
    request.set_task_id(id);
    const auto answer = session.Call<v1::DeleteTaskRequest, v1::DeleteTaskResponse>(
        std::move(request), &AdminMethods::DeleteTask);
    if (!answer.ok()) return answer.status();
    if (!session.json()) session.out() << id << " deleted\n";
    return absl::OkStatus();
  });
}

std::shared_ptr<ChangeOptions> AddChange(CLI::App* tasks, Plan* plan, const std::string& name,
                                         const std::string& description,
                                         absl::Status (*run)(Session&, const ChangeOptions&)) {
  const auto options = std::make_shared<ChangeOptions>();
  CLI::App* const app = AddCommand(
      tasks, plan, name,
      absl::StrCat(description,
                   " Of tasks by their ids, or of all that match a filter: then they are counted "
                   "first, and a question is asked."),
      options, run);
  AddTexts(app, "TASK", &options->ids, "Ids of tasks");
  AddFilter(app, &options->filter);
  AddSwitch(app, "--all", &options->filter.all, "All tasks of the queue: --queue and nothing else")
      .Group("Which tasks");
  AddSwitch(app, "--yes,-y", &options->yes, "Do not ask");
  AddSwitch(app, "--dry-run", &options->dry_run, "Only count");
  return options;
}

}  // namespace

void DeclareTaskChanges(CLI::App* tasks, Plan* plan) {
  auto options = AddChange(tasks, plan, "prioritize",
                           "Changes the priority of tasks that have not ended.", Prioritize);
  AddNumber(CommandOf(tasks, "prioritize"), "--priority,-p", &options->priority,
            "-32768 to 32767; smaller is more urgent");
  AddExamples(CommandOf(tasks, "prioritize"),
              {"skiplane tasks prioritize TASK --priority -10",
               "skiplane tasks prioritize -q mail --key-prefix urgent- --priority -10 --yes"});

  options =
      AddChange(tasks, plan, "reschedule", "Moves the schedule time of waiting tasks.", Reschedule);
  CLI::App* const reschedule = CommandOf(tasks, "reschedule");
  AddSwitch(reschedule, "--now", &options->now, "Run now");
  AddInstant(reschedule, "--at", &options->at, "Run at this time");
  AddDuration(reschedule, "--postpone", &options->postpone, "Run this much later than planned");
  AddExamples(reschedule, {"skiplane tasks reschedule -q mail --state scheduled --postpone 1h"});

  options = AddChange(tasks, plan, "retry",
                      "Failed tasks start again with all their attempts; those that wait for a "
                      "retry run now. Others are refused, or left as they are.",
                      Retry);
  AddContent(CommandOf(tasks, "retry"), &options->content);
  AddExamples(CommandOf(tasks, "retry"),
              {"skiplane tasks retry -q mail --state failed --max-age 2h",
               "skiplane tasks retry TASK --new-payload-file fixed.json"});
  AddChange(tasks, plan, "cancel",
            "Ends waiting tasks as cancelled; the workers of running ones are asked to stop.",
            Cancel);
  AddExamples(CommandOf(tasks, "cancel"), {"skiplane tasks cancel -q mail --all"});
  AddChange(tasks, plan, "delete",
            "Removes waiting and failed tasks with their keys, as if they had never been.",
            Delete);
  AddExamples(CommandOf(tasks, "delete"),
              {"skiplane tasks delete -q mail --state failed --min-age 30d --dry-run"});
}

}  // namespace skiplane::cli
