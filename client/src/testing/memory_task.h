// A task in memory, and what others see of it: plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>

#include "absl/time/time.h"
#include "skiplane/ack.h"
#include "skiplane/new_task.h"
#include "skiplane/queue.h"
#include "skiplane/task.h"
#include "skiplane/testing.h"

namespace skiplane::internal {

enum class Phase { kWaiting, kLeased, kSucceeded, kFailed, kCancelled };

struct MemoryTask {
  int64_t number = 0;
  std::string queue{};
  Phase phase = Phase::kWaiting;

  // What its next run begins with, and what it has at its stage.
  NewTask content{};
  NextPayload payload{};
  size_t stage = 0;
  std::optional<NewTask> rerun{};  // newer content, for after the running attempt

  int attempts = 0;  // begun and charged
  int max_attempts = 0;
  absl::Time create_time{};
  absl::Time schedule_time{};
  std::optional<absl::Time> planned_time{};  // of a periodic one
  std::optional<absl::Time> end_time{};
  std::optional<TaskError> last_error{};         // that others see
  std::optional<TaskError> error_for_next{};     // and its next attempt
  std::optional<TaskProgress> last_progress{};
  std::string result{};
  bool is_cancel_requested = false;

  // Of its lease, the current or the last one:
  int64_t lease_number = 0;
  std::string worker_id{};
  std::string worker_name{};
  std::optional<absl::Time> lease_time{};
  absl::Time lease_end = absl::InfiniteFuture();
  std::optional<TaskProgress> progress{};
  std::stop_source stop{};

  bool IsPeriodic() const { return content.period.has_value() || !content.cron.empty(); }
  bool HasEnded() const { return phase != Phase::kWaiting && phase != Phase::kLeased; }
};

std::string IdOf(const MemoryTask& task);
std::string TokenOf(const MemoryTask& task);
TaskState StateOf(const MemoryTask& task, absl::Time now);
// The name of the stage that it is at; empty in a queue without stages.
std::string StageOf(const MemoryTask& task, const QueueSettings& settings);

Task ViewOf(const MemoryTask& task, const QueueSettings& settings, absl::Time now);
StoredTask StoredOf(const MemoryTask& task, const QueueSettings& settings, absl::Time now);
LeasedTask LeasedOf(const MemoryTask& task, const QueueSettings& settings);

// Whether a declaration changes nothing of the other one.
bool IsSameSchedule(const NewTask& a, const NewTask& b);
bool IsSameContent(const NewTask& a, const NewTask& b);
bool IsSame(const NewTask& a, const NewTask& b);

}  // namespace skiplane::internal
