#include "client/src/testing/memory_task.h"

#include <algorithm>
#include <tuple>

#include "absl/strings/str_cat.h"

namespace skiplane::internal {
namespace {

constexpr size_t kLastErrorBytesMax = size_t{4} << 10;

}  // namespace

std::string IdOf(const MemoryTask& task) { return absl::StrCat("task-", task.number); }

std::string TokenOf(const MemoryTask& task) {
  return absl::StrCat("lease-", task.number, "-", task.lease_number);
}

TaskState StateOf(const MemoryTask& task, absl::Time now) {
  switch (task.phase) {
    case Phase::kWaiting:
      return task.schedule_time > now ? TaskState::kScheduled : TaskState::kReady;
    case Phase::kLeased: return TaskState::kLeased;
    case Phase::kSucceeded: return TaskState::kSucceeded;
    case Phase::kFailed: return TaskState::kFailed;
    case Phase::kCancelled: break;
  }
  return TaskState::kCancelled;
}

std::string StageOf(const MemoryTask& task, const QueueSettings& settings) {
  return settings.stages.empty() ? "" : settings.stages[task.stage].name;
}

Task ViewOf(const MemoryTask& task, const QueueSettings& settings, absl::Time now) {
  const NewTask& newest = task.rerun ? *task.rerun : task.content;
  Task view;
  view.task_id = IdOf(task);
  view.queue = task.queue;
  view.state = StateOf(task, now);
  view.key = task.content.key;
  view.priority = newest.priority;
  view.attempt_count = task.attempts;
  view.max_attempts = task.max_attempts;
  view.create_time = task.create_time;
  view.schedule_time = task.schedule_time;
  view.lease_time = task.lease_time;
  view.end_time = task.end_time;
  view.last_error = task.last_error;
  view.worker_name = task.worker_name;
  view.progress = task.progress;
  view.last_progress = task.last_progress;
  view.stage = StageOf(task, settings);
  view.version = newest.version;
  view.rerun_pending = task.rerun.has_value();
  view.cancel_requested = task.is_cancel_requested;
  view.result = task.result;
  return view;
}

StoredTask StoredOf(const MemoryTask& task, const QueueSettings& settings, absl::Time now) {
  return {.task = ViewOf(task, settings, now),
          .payload = task.payload.payload,
          .content_type = task.payload.content_type,
          .headers = task.payload.headers};
}

LeasedTask LeasedOf(const MemoryTask& task, const QueueSettings& settings) {
  LeasedTask leased{.task_id = IdOf(task),
                    .lease_token = TokenOf(task),
                    .queue = task.queue,
                    .payload = task.payload.payload,
                    .content_type = task.payload.content_type,
                    .headers = task.payload.headers,
                    .key = task.content.key,
                    .priority = task.content.priority,
                    .attempt = task.attempts,
                    .max_attempts = task.max_attempts,
                    .create_time = task.create_time,
                    .schedule_time = task.schedule_time,
                    .stage = StageOf(task, settings),
                    .version = task.content.version,
                    .planned_time = task.planned_time,
                    .last_error = task.error_for_next,
                    .last_progress = task.last_progress};
  if (leased.last_error) {
    leased.last_error->text.resize(std::min(leased.last_error->text.size(), kLastErrorBytesMax));
  }
  return leased;
}

bool IsSameSchedule(const NewTask& a, const NewTask& b) {
  const auto parts = [](const NewTask& task) {
    return std::tie(task.period, task.cron, task.time_zone, task.catch_up);
  };
  return parts(a) == parts(b);
}

bool IsSameContent(const NewTask& a, const NewTask& b) {
  const auto parts = [](const NewTask& task) {
    return std::tie(task.payload, task.content_type, task.headers, task.priority,
                    task.max_attempts);
  };
  return parts(a) == parts(b);
}

bool IsSame(const NewTask& a, const NewTask& b) {
  const auto parts = [](const NewTask& task) {
    return std::tie(task.schedule_time, task.delay, task.key, task.key_policy, task.version,
                    task.stage, task.queue);
  };
  return IsSameSchedule(a, b) && IsSameContent(a, b) && parts(a) == parts(b);
}

}  // namespace skiplane::internal
