#include "client/src/testing/memory_store.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "client/src/testing/checks.h"
#include "client/src/testing/transitions.h"

namespace skiplane::internal {
namespace {

absl::Status WrongState(const MemoryTask& task, absl::string_view what) {
  return Refuse(absl::StatusCode::kFailedPrecondition, "WRONG_STATE",
                absl::StrCat(IdOf(task), " is not ", what));
}

absl::Status NotFound() {
  return Refuse(absl::StatusCode::kNotFound, "TASK_NOT_FOUND", "no such task is known");
}

}  // namespace

void MemoryStore::Advance(absl::Duration duration) {
  now_ += std::max(duration, absl::ZeroDuration());
  for (auto& [number, task] : tasks_) {
    if (task.phase != Phase::kLeased) continue;
    const QueueSettings& settings = SettingsOf(task);
    if (RunEndOf(task, settings) < now_) {
      EndLost(task, {.type = "HANGED", .text = "the attempt ran too long"}, settings, now_);
    } else if (task.lease_end <= now_) {
      EndLost(task, {.type = "LEASE_LOST", .text = "the worker was silent"}, settings, now_);
    }
  }
}

std::optional<absl::Time> MemoryStore::NextDue() const {
  std::optional<absl::Time> next;
  for (const auto& [number, task] : tasks_) {
    if (task.phase != Phase::kWaiting || task.schedule_time <= now_) continue;
    if (!next || task.schedule_time < *next) next = task.schedule_time;
  }
  return next;
}

absl::StatusOr<MemoryTask*> MemoryStore::Find(absl::string_view task_id) {
  int64_t number = 0;
  const bool is_id = absl::ConsumePrefix(&task_id, "task-") && absl::SimpleAtoi(task_id, &number);
  const auto found = tasks_.find(number);
  if (!is_id || found == tasks_.end()) return NotFound();
  return &found->second;
}

absl::StatusOr<MemoryTask*> MemoryStore::Find(absl::string_view queue, absl::string_view key) {
  const auto found = keys_.find({std::string(queue), std::string(key)});
  if (found == keys_.end()) return NotFound();
  return &tasks_.at(found->second);
}

Task MemoryStore::View(const MemoryTask& task) const {
  return ViewOf(task, SettingsOf(task), now_);
}

std::vector<StoredTask> MemoryStore::Tasks(absl::string_view queue) const {
  std::vector<StoredTask> all;
  for (const auto& [number, task] : tasks_) {
    if (task.queue == queue) all.push_back(StoredOf(task, SettingsOf(task), now_));
  }
  return all;
}

QueueCounts MemoryStore::Count(absl::string_view queue) const {
  QueueCounts counts;
  for (const auto& [number, task] : tasks_) {
    if (task.queue != queue) continue;
    switch (StateOf(task, now_)) {
      case TaskState::kScheduled: ++counts.scheduled; break;
      case TaskState::kReady: ++counts.ready; break;
      case TaskState::kLeased: ++counts.leased; break;
      case TaskState::kSucceeded: ++counts.succeeded; break;
      case TaskState::kFailed: ++counts.failed; break;
      default: ++counts.cancelled; break;
    }
  }
  return counts;
}

absl::Status MemoryStore::Cancel(absl::string_view task_id) {
  const absl::StatusOr<MemoryTask*> task = Find(task_id);
  if (!task.ok()) return task.status();
  if ((*task)->HasEnded()) return WrongState(**task, "waiting or running");
  if ((*task)->phase == Phase::kLeased) {
    (*task)->is_cancel_requested = true;
    (*task)->stop.request_stop();
  } else {
    (*task)->phase = Phase::kCancelled;
    (*task)->end_time = now_;
  }
  return absl::OkStatus();
}

absl::Status MemoryStore::Retry(absl::string_view task_id) {
  const absl::StatusOr<MemoryTask*> task = Find(task_id);
  if (!task.ok()) return task.status();
  if ((*task)->phase == Phase::kFailed) {
    // It keeps what its attempts left, and the stage that it is at.
    (*task)->phase = Phase::kWaiting;
    (*task)->attempts = 0;
    (*task)->end_time.reset();
  } else if ((*task)->phase != Phase::kWaiting || (*task)->attempts == 0) {
    return WrongState(**task, "failed, nor waiting for a retry");
  }
  (*task)->schedule_time = now_;
  return absl::OkStatus();
}

absl::Status MemoryStore::Trigger(absl::string_view task_id) {
  const absl::StatusOr<MemoryTask*> task = Find(task_id);
  if (!task.ok()) return task.status();
  if ((*task)->phase != Phase::kWaiting || !(*task)->IsPeriodic()) {
    return WrongState(**task, "a periodic task that waits");
  }
  (*task)->schedule_time = now_;
  return absl::OkStatus();
}

absl::Status MemoryStore::LoseLease(absl::string_view task_id) {
  const absl::StatusOr<MemoryTask*> task = Find(task_id);
  if (!task.ok()) return task.status();
  if ((*task)->phase != Phase::kLeased) return WrongState(**task, "running");
  EndLost(**task, {.type = "LEASE_LOST", .text = "the worker was lost"}, SettingsOf(**task), now_);
  return absl::OkStatus();
}

}  // namespace skiplane::internal
