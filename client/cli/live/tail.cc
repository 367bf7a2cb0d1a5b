// skiplane tail: what happens in a queue, line by line.
#include <iostream>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/cli/base/exit_code.h"
#include "client/cli/base/interrupt.h"
#include "client/cli/command/commands.h"
#include "client/cli/command/show.h"
#include "client/cli/live/tail_lines.h"
#include "client/cli/input/option.h"
#include "client/cli/text/instant.h"
#include "client/src/convert_time.h"

namespace skiplane::cli {
namespace {

using internal::AdminMethods;

struct TailOptions {
  std::string queue{};
  std::optional<absl::Duration> interval{};
  bool new_tasks = false;
};

void Print(Session& session, const std::string& line, const google::protobuf::Message& message) {
  if (session.json()) {
    session.out() << ToJson(message) << std::endl;
  } else {
    session.out() << FormatInstant(absl::Now()) << "  " << line << std::endl;
  }
}

absl::Status TailCounts(Session& session, const TailOptions& options, CountLines& lines) {
  const absl::StatusOr<v1::Queue> queue = session.GetQueue(options.queue);
  if (!queue.ok()) return queue.status();
  const std::string line = lines.Next(queue->counts());
  if (!line.empty()) Print(session, line, *queue);
  return absl::OkStatus();
}

// A queue that is new, or was there before, is not told until something happens in it.
absl::Status TailAllCounts(Session& session, std::map<std::string, CountLines>& lines) {
  return ForEach<v1::ListQueueSummariesRequest, v1::ListQueueSummariesResponse>(
      session, {}, &AdminMethods::ListQueueSummaries,
      [](const v1::ListQueueSummariesResponse& page) { return page.summaries(); },
      [&](const v1::QueueSummary& queue) {
        const bool is_known = lines.contains(queue.queue());
        const std::string line = lines[queue.queue()].Next(queue.counts());
        if (!is_known || line.empty()) return;
        Print(session, absl::StrCat(queue.queue(), "  ", line), queue);
      },
      /*limit=*/0);
}

absl::Status TailErrors(Session& session, const TailOptions& options, ErrorLines& lines) {
  v1::ListErrorGroupsRequest request;
  request.set_queue(options.queue);
  const absl::Status status = ForEach<v1::ListErrorGroupsRequest, v1::ListErrorGroupsResponse>(
      session, std::move(request), &AdminMethods::ListErrorGroups,
      [](const v1::ListErrorGroupsResponse& page) { return page.groups(); },
      [&](const v1::ErrorGroup& group) {
        const std::string line = lines.Next(group);
        const std::string queue =
            options.queue.empty() ? absl::StrCat(group.queue(), "  ") : std::string();
        if (!line.empty()) Print(session, absl::StrCat(queue, line), group);
      },
      /*limit=*/0);
  // A broker that does not know error groups yet still has counts.
  if (absl::IsUnimplemented(status)) return absl::OkStatus();
  if (status.ok()) lines.EndRound();
  return status;
}

absl::Status TailTasks(Session& session, const TailOptions& options, absl::Duration interval,
                       std::set<std::string>& seen) {
  v1::ListTasksRequest request;
  request.mutable_filter()->set_queue(options.queue);
  for (int state = v1::TaskState_MIN + 1; state <= v1::TaskState_MAX; ++state) {
    request.mutable_filter()->add_states(static_cast<v1::TaskState>(state));
  }
  // Twice the interval and some more, so that a slow call leaves no gap.
  internal::ToProto(2 * interval + absl::Seconds(10), request.mutable_filter()->mutable_max_age());
  std::set<std::string> now;
  const absl::Status status = ForEach<v1::ListTasksRequest, v1::ListTasksResponse>(
      session, std::move(request), &AdminMethods::ListTasks,
      [](const v1::ListTasksResponse& page) { return page.tasks(); },
      [&](const v1::Task& task) {
        now.insert(task.task_id());
        if (!seen.contains(task.task_id())) Print(session, TaskLine(task), task);
      },
      /*limit=*/0);
  if (status.ok()) seen = std::move(now);
  return status;
}

absl::Status Tail(Session& session, const TailOptions& options) {
  const absl::Duration interval = options.interval.value_or(absl::Seconds(2));
  if (interval < absl::Milliseconds(100)) return UsageError("--interval is at least 100ms");
  if (options.new_tasks && options.queue.empty()) {
    return UsageError("of which queue? tail QUEUE --new-tasks");
  }
  Interrupt interrupt;
  CountLines counts;
  std::map<std::string, CountLines> all_counts;
  ErrorLines errors;
  std::set<std::string> seen;
  bool was_away = false;
  do {
    absl::Status status;
    if (options.new_tasks) {
      status = TailTasks(session, options, interval, seen);
    } else {
      status = options.queue.empty() ? TailAllCounts(session, all_counts)
                                     : TailCounts(session, options, counts);
      if (status.ok()) status = TailErrors(session, options, errors);
    }
    const bool is_away = ExitCodeOf(status) == kNotReachable;
    if (!status.ok() && !is_away) return status;
    if (is_away && !was_away) std::cerr << "skiplane: " << Explain(status) << "; waiting\n";
    was_away = is_away;
  } while (!interrupt.Wait(interval));
  return absl::OkStatus();
}

}  // namespace

void DeclareTail(CLI::App* app, Plan* plan) {
  const auto options = std::make_shared<TailOptions>();
  CLI::App* const tail = AddCommand(
      app, plan, "tail",
      "Follows a queue, or all of them, until Ctrl-C, one line for each thing that is new.\n\n"
      "Without --new-tasks: how many attempts ended well and how many tasks failed since the line "
      "before, what waits and what runs, as soon as a number changed; and each error group that "
      "has new failures, with its text. With --new-tasks: each task that was enqueued, once, the "
      "first ones being those of the last seconds. It asks the broker every --interval; tasks that "
      "were enqueued and deleted between two questions are not seen.",
      options, Tail);
  AddText(tail, "QUEUE", &options->queue, "The queue").Default("all");
  AddSwitch(tail, "--new-tasks", &options->new_tasks, "Show tasks as they are enqueued");
  AddDuration(tail, "--interval", &options->interval, "How often to ask").Default("2s");
}

}  // namespace skiplane::cli
