// skiplane schedules: periodic tasks.
#include "client/cli/base/exit_code.h"
#include "client/cli/command/commands.h"
#include "client/cli/command/one_task.h"
#include "client/cli/command/show.h"
#include "client/cli/input/option.h"
#include "client/cli/input/table_options.h"
#include "client/cli/text/instant.h"
#include "client/src/convert_time.h"

namespace skiplane::cli {
namespace {

using internal::AdminMethods;

struct ListOptions {
  std::string queue{};
  std::optional<int> limit{};
};

struct TaskOptions {
  std::vector<std::string> ids{};
};

struct PreviewOptions {
  std::string task_id{};
  std::optional<absl::Duration> period{};
  std::string cron{};
  std::string time_zone{};
  std::optional<absl::Time> start{};
  std::optional<int> count{};
};

absl::Status List(Session& session, const ListOptions& options) {
  v1::ListSchedulesRequest request;
  request.set_queue(options.queue);
  return ShowPages<v1::ListSchedulesRequest, v1::ListSchedulesResponse>(
      session, std::move(request), &AdminMethods::ListSchedules,
      [](const v1::ListSchedulesResponse& page) { return page.tasks(); },
      {{"TASK", "task_id"},
       {"QUEUE", "queue"},
       {"KEY", "key"},
       {"STATE", "state"},
       {"PAUSED", "recurrence.paused"},
       {"PLANNED", "recurrence.planned_time"},
       {"EVERY", "recurrence.period"},
       {"CRON", "recurrence.cron"},
       {"ZONE", "recurrence.time_zone"},
       {"LAST ERROR", "last_error.type"}},
      options.limit.value_or(100));
}

absl::Status Pause(Session& session, const TaskOptions& options) {
  return ForEachId(options.ids, [&](const std::string& id) {
    return ChangeOne<v1::PauseTaskRequest, v1::PauseTaskResponse>(session, id, {},
                                                                  &AdminMethods::PauseTask);
  });
}

absl::Status Resume(Session& session, const TaskOptions& options) {
  return ForEachId(options.ids, [&](const std::string& id) {
    return ChangeOne<v1::ResumeTaskRequest, v1::ResumeTaskResponse>(session, id, {},
                                                                    &AdminMethods::ResumeTask);
  });
}

absl::Status Trigger(Session& session, const TaskOptions& options) {
  return ForEachId(options.ids, [&](const std::string& id) {
    return ChangeOne<v1::TriggerTaskRequest, v1::TriggerTaskResponse>(
        session, id, {}, &AdminMethods::TriggerTask);
  });
}

absl::Status Preview(Session& session, const PreviewOptions& options) {
  if (!options.task_id.empty() + options.period.has_value() + !options.cron.empty() != 1) {
    return UsageError("give one of TASK, --period and --cron");
  }
  v1::PreviewScheduleRequest request;
  if (!options.task_id.empty()) request.set_task_id(options.task_id);
  if (options.period) internal::ToProto(*options.period, request.mutable_period());
  if (!options.cron.empty()) request.set_cron(options.cron);
  request.set_time_zone(options.time_zone);
  if (options.start) internal::ToProto(*options.start, request.mutable_start_time());
  request.set_count(options.count.value_or(0));
  const auto answer = session.Call<v1::PreviewScheduleRequest, v1::PreviewScheduleResponse>(
      std::move(request), &AdminMethods::PreviewSchedule);
  if (!answer.ok()) return answer.status();
  if (session.json()) return ShowOne(session, *answer), absl::OkStatus();
  for (const auto& time : answer->planned_times()) {
    session.out() << FormatInstant(internal::FromProto(time)) << "\n";
  }
  return absl::OkStatus();
}

void AddChange(CLI::App* schedules, Plan* plan, const std::string& name,
               const std::string& description,
               absl::Status (*run)(Session&, const TaskOptions&)) {
  const auto options = std::make_shared<TaskOptions>();
  CLI::App* const app = AddCommand(schedules, plan, name, description, options, run);
  AddTexts(app, "TASK", &options->ids, "Ids of periodic tasks").Required();
}

void DeclarePreview(CLI::App* schedules, Plan* plan) {
  const auto options = std::make_shared<PreviewOptions>();
  CLI::App* const preview = AddView(
      schedules, plan, "preview",
      "Tells the next planned times of a task that has a schedule, or of one to be.", options,
      Preview);
  AddText(preview, "TASK", &options->task_id, "Of this periodic task");
  AddDuration(preview, "--period", &options->period, "Of one with this period");
  AddText(preview, "--cron", &options->cron, "Of one with this cron schedule");
  AddText(preview, "--time-zone", &options->time_zone, "Its IANA zone").Default("UTC");
  AddInstant(preview, "--start", &options->start, "Times after this one").Default("now");
  AddNumber(preview, "--count", &options->count, "How many").Default("10");
  AddExamples(preview,
              {"skiplane schedules preview --cron '0 6 * * mon-fri' --time-zone Europe/Berlin"});
}

}  // namespace

void DeclareSchedules(CLI::App* app, Plan* plan) {
  CLI::App* const schedules = AddGroup(app, "schedules", "Looks at periodic tasks and steers them");
  const auto options = std::make_shared<ListOptions>();
  CLI::App* const list = AddView(schedules, plan, "list", "Lists periodic tasks by planned time.",
                                 options, List);
  AddText(list, "QUEUE", &options->queue, "Only of this queue");
  AddNumber(list, "--limit", &options->limit, "At most so many; 0: all").Default("100");
  AddTableOptions(list, plan);
  AddChange(schedules, plan, "pause",
            "Pauses periodic tasks: they do not run until they are resumed or triggered.",
            Pause);
  AddChange(schedules, plan, "resume",
            "Ends the pause of periodic tasks: they run at their next planned time.", Resume);
  AddChange(schedules, plan, "trigger",
            "Runs waiting periodic tasks once now, also when paused; planned times stay as they "
            "are.",
            Trigger);
  DeclarePreview(schedules, plan);
}

}  // namespace skiplane::cli
