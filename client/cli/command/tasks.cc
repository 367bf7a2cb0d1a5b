// skiplane tasks list, show and explain; the changes are in task_changes.cc.
#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "client/cli/base/exit_code.h"
#include "client/cli/command/commands.h"
#include "client/cli/command/show.h"
#include "client/cli/input/option.h"
#include "client/cli/input/table_options.h"
#include "client/cli/options/filter_options.h"
#include "client/cli/text/utf8.h"
#include "skiplane/error.h"

namespace skiplane::cli {
namespace {

using internal::AdminMethods;

// In characters; --json has all of it.
constexpr size_t kResultLengthMax = 60;

struct ListOptions {
  std::vector<std::string> queues{};
  std::string worker{};
  bool newest = false;
  FilterOptions filter{};
  std::optional<int> limit{};
  bool full = false;
};

struct TaskOptions {
  std::string task_id{};
  std::string queue{};
  std::string key{};
  std::optional<absl::Duration> wait{};
  std::optional<int> attempts{};
};

absl::Status List(Session& session, const ListOptions& options) {
  absl::StatusOr<v1::TaskFilter> filter = ToFilter(options.filter);
  if (!filter.ok()) return filter.status();
  v1::ListTasksRequest request;
  if (!filter->queue().empty()) request.add_queues(filter->queue());
  for (const std::string& queue : options.queues) request.add_queues(queue);
  if (request.queues().empty()) return UsageError("which queue? tasks list QUEUE");
  if (request.queues_size() == 1) {  // as brokers before 0.2 know it
    filter->set_queue(request.queues(0));
    request.clear_queues();
  } else {
    filter->clear_queue();
  }
  *request.mutable_filter() = *std::move(filter);
  request.set_worker_handle(options.worker);
  if (options.newest) request.set_order(v1::LIST_ORDER_NEWEST_FIRST);
  request.set_view(options.full ? v1::TASK_VIEW_FULL : v1::TASK_VIEW_BASIC);
  return ShowPages<v1::ListTasksRequest, v1::ListTasksResponse>(
      session, std::move(request), &AdminMethods::ListTasks,
      [](const v1::ListTasksResponse& page) { return page.tasks(); },
      {{"TASK", "task_id"},
       {"STATE", "state"},
       {"STAGE", "stage"},
       {"ATTEMPT", "attempt_count"},
       {"PRIORITY", "priority"},
       {"RUNS", "schedule_time"},
       {"KEY", "key"},
       {"WORKER", "worker_name"},
       {"LAST ERROR", "last_error.type"}},
      options.limit.value_or(100));
}

// The task with all the attempts that are wanted, however many answers they fill.
absl::StatusOr<v1::GetTaskResponse> GetWhole(Session& session, const TaskOptions& options) {
  const int wanted = options.attempts.value_or(100);
  v1::GetTaskRequest request;
  request.set_task_id(options.task_id);
  request.set_queue(options.queue);
  request.set_key(options.key);
  request.set_view(v1::TASK_VIEW_FULL);
  request.set_attempts_page_size(std::min(wanted, static_cast<int>(kPageSize)));
  absl::StatusOr<v1::GetTaskResponse> whole =
      session.AwaitTask(request, options.wait.value_or(absl::ZeroDuration()));
  if (absl::IsPermissionDenied(whole.status()) && ErrorField(whole.status()) == "view") {
    std::cerr << "skiplane: without payload and result, which need `read_payload`\n";
    request.set_view(v1::TASK_VIEW_BASIC);
    whole = session.AwaitTask(request, options.wait.value_or(absl::ZeroDuration()));
  }
  if (!whole.ok()) return whole;
  request.Clear();
  request.set_task_id(whole->task().task_id());
  while (whole.ok() && !whole->next_attempts_page_token().empty() &&
         whole->attempts_size() < wanted) {
    request.set_attempts_page_token(whole->next_attempts_page_token());
    request.set_attempts_page_size(
        std::min(wanted - whole->attempts_size(), static_cast<int>(kPageSize)));
    auto older =
        session.Call<v1::GetTaskRequest, v1::GetTaskResponse>(request, &AdminMethods::GetTask);
    if (!older.ok()) return older.status();
    for (v1::Attempt& attempt : *older->mutable_attempts()) {
      *whole->add_attempts() = std::move(attempt);
    }
    whole->set_next_attempts_page_token(older->next_attempts_page_token());
  }
  return whole;
}

// What a payload or result is for people: itself, or its size if it is not UTF-8.
std::string ShownBytes(const std::string& bytes) {
  return Utf8IsValid(bytes) ? bytes : absl::StrCat(FormatCount(bytes.size()), " bytes, not UTF-8");
}

void ShowAttempts(Session& session, v1::GetTaskResponse& answer) {
  Columns columns{{"ATTEMPT", "attempt"},   {"STAGE", "stage"},    {"OUTCOME", "outcome"},
                  {"LEASED", "lease_time"}, {"ENDED", "end_time"}, {"WORKER", "worker_name"}};
  const bool has_results =
      std::any_of(answer.attempts().begin(), answer.attempts().end(),
                  [](const v1::Attempt& attempt) { return !attempt.result().empty(); });
  if (has_results) columns.emplace_back("RESULT", "result");
  columns.insert(columns.end(), {{"ERROR", "error.type"}, {"TEXT", "error.text"}});
  Listing listing(session, std::move(columns));
  for (v1::Attempt& attempt : *answer.mutable_attempts()) {
    const std::string result = OneLine(ShownBytes(attempt.result()));
    attempt.set_result(Utf8Cut(absl::StripAsciiWhitespace(result), kResultLengthMax));
    listing.Add(attempt);
  }
  listing.End();
}

// A task id has no slash; a key may.
void SplitKey(TaskOptions& options) {
  const size_t slash = options.task_id.find('/');
  if (slash == std::string::npos || !options.queue.empty() || !options.key.empty()) return;
  options.queue = options.task_id.substr(0, slash);
  options.key = options.task_id.substr(slash + 1);
  options.task_id.clear();
}

absl::Status Show(Session& session, const TaskOptions& given) {
  TaskOptions options = given;
  SplitKey(options);
  const bool by_id = !options.task_id.empty();
  if (by_id != options.queue.empty() || by_id != options.key.empty()) {
    return UsageError("which task? tasks show TASK, or tasks show QUEUE/KEY");
  }
  absl::StatusOr<v1::GetTaskResponse> answer = GetWhole(session, options);
  if (!answer.ok()) return answer.status();
  if (session.json()) {
    ShowOne(session, *answer);
    return absl::OkStatus();
  }
  v1::Task& task = *answer->mutable_task();
  task.set_payload(ShownBytes(task.payload()));
  task.set_result(ShownBytes(task.result()));
  ShowOne(session, task);
  if (answer->attempts().empty()) return absl::OkStatus();
  session.out() << "\n";
  ShowAttempts(session, *answer);
  return absl::OkStatus();
}

absl::Status ExplainOne(Session& session, const TaskOptions& options) {
  v1::ExplainTaskRequest request;
  request.set_task_id(options.task_id);
  const auto answer = session.Call<v1::ExplainTaskRequest, v1::ExplainTaskResponse>(
      std::move(request), &AdminMethods::ExplainTask);
  if (!answer.ok()) return answer.status();
  if (!session.json()) session.out() << OneLine(answer->explanation()) << "\n\n";
  ShowOne(session, *answer);
  return absl::OkStatus();
}

}  // namespace

void DeclareTasks(CLI::App* app, Plan* plan) {
  CLI::App* const tasks = AddGroup(app, "tasks", "Looks at tasks and changes them");
  const auto list_options = std::make_shared<ListOptions>();
  CLI::App* const list =
      AddView(tasks, plan, "list",
              "Lists the tasks of one or more queues that match, in the order of their ids. "
              "Finished ones are found with --state succeeded,failed,cancelled while kept.",
              list_options, List);
  AddTexts(list, "QUEUE", &list_options->queues, "The queues, at most 100; --queue does as well");
  AddSwitch(list, "--newest", &list_options->newest, "The newest first");
  AddText(list, "--worker", &list_options->worker,
          "Only what this worker holds: WORKER of skiplane workers")
      .Type("HANDLE");
  AddFilter(list, &list_options->filter);
  AddNumber(list, "--limit", &list_options->limit, "At most so many; 0: all").Default("100");
  AddTableOptions(list, plan);
  AddSwitch(list, "--full", &list_options->full, "With --json: payloads and headers, too");
  AddExamples(list, {"skiplane tasks list mail --state failed",
                     "skiplane tasks list mail sms --newest --error-type TimeoutError",
                     "skiplane tasks list mail --state failed --limit 0 --full --json | "
                     "jq -r '.payload | @base64d'"});

  const auto show_options = std::make_shared<TaskOptions>();
  CLI::App* const show = AddView(
      tasks, plan, "show", "Shows a task with its payload and its finished attempts, latest first; "
      "with the beginning of their results, if the queue keeps results. With --json all of them.",
      show_options, Show);
  AddText(show, "TASK", &show_options->task_id,
          "The task's id, or QUEUE/KEY, or --queue and --key");
  AddText(show, "--queue,-q", &show_options->queue, "The queue of --key");
  AddText(show, "--key", &show_options->key, "The task that holds this key");
  AddDuration(show, "--wait", &show_options->wait, "Wait for the task's end at most this long");
  AddExamples(show, {"skiplane tasks show mail/order-17",
                     "skiplane tasks show --queue mail --key order-17 --wait 30s"});
  AddNumber(show, "--attempts", &show_options->attempts, "At most so many attempts")
      .Default("100");

  const auto explain_options = std::make_shared<TaskOptions>();
  CLI::App* const explain =
      AddView(tasks, plan, "explain", "Says why a task does not run.", explain_options, ExplainOne);
  AddText(explain, "TASK", &explain_options->task_id, "The task's id").Required();
  DeclareTaskChanges(tasks, plan);
  DeclareTaskCopies(tasks, plan);
}

}  // namespace skiplane::cli
