// Tasks as values: what a producer asks for, and what an operator sees. No database, no wire.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace skiplane::model {

// Headers in the order of their keys, each key once.
using Headers = std::vector<std::pair<std::string, std::string>>;

// Where a task lives: its lane, and its number, which is unique in the installation.
struct TaskId {
  int64_t lane = 0;
  int64_t id = 0;

  friend bool operator==(const TaskId&, const TaskId&) = default;
  template <typename H>
  friend H AbslHashValue(H state, const TaskId& id) {
    return H::combine(std::move(state), id.lane, id.id);
  }
};

// The text that callers see: "<lane>-<id>". They treat it as opaque.
std::string FormatTaskId(const TaskId& id);

// INVALID_FIELD (field "task_id") if `text` is not the result of FormatTaskId.
absl::StatusOr<TaskId> ParseTaskId(absl::string_view text);

// What to do when the key of a new task is known; the numbers are those of the database.
enum class KeyPolicy : int16_t {
  kKeep = 1,
  kKeepUnfinished = 2,
  kRerunIfNewer = 3,
  kReplaceWaiting = 4,
  kReject = 5,
  kSchedule = 6,
};

struct NewTask {
  std::string payload;
  std::string content_type;
  Headers headers;
  int16_t priority = 0;
  // At most one of the two is set; neither means at once.
  std::optional<absl::Time> schedule_time;
  std::optional<absl::Duration> delay;
  int32_t max_attempts = 0;  // 0: the queue's default
  std::string key;           // empty: none
  KeyPolicy key_policy = KeyPolicy::kKeep;
  int64_t version = 0;  // 0: none
  // At most one of the two makes the task periodic.
  std::optional<absl::Duration> period;
  std::string cron;       // empty: none
  std::string time_zone;  // of cron; empty: UTC
  bool run_all = false;   // missed planned times are run, too
  std::string stage;      // at which it begins; empty: the first
  std::string queue;      // empty: that of its call

  bool IsPeriodic() const { return period.has_value() || !cron.empty(); }
};

// What was done for a new task; the numbers are those of the database.
enum class EnqueueOutcome : int16_t {
  kCreated = 1,
  kExisting = 2,
  kReplaced = 3,
  kRestarted = 4,
  kRerun = 5,
};

enum class TaskState : int16_t {
  kScheduled = 1,
  kReady = 2,
  kLeased = 3,
  kSucceeded = 4,
  kFailed = 5,
  kCancelled = 6,
};

inline bool HasEnded(TaskState state) { return state >= TaskState::kSucceeded; }

struct EnqueueResult {
  TaskId id;  // of the new task, or of the one that holds the key
  EnqueueOutcome outcome = EnqueueOutcome::kCreated;
  TaskState state = TaskState::kReady;  // after the call

  bool existing() const { return outcome == EnqueueOutcome::kExisting; }
};

// Why an attempt failed.
struct TaskError {
  std::string type;
  std::string text;  // any bytes
  std::string fingerprint;
};

struct TaskProgress {
  double fraction = 0;
  std::string message;
};

struct Recurrence {
  std::optional<absl::Duration> period;
  std::string cron;
  std::string time_zone;
  absl::Time planned_time;
  bool run_all = false;
  bool is_paused = false;
};

// A task as operators see it.
struct TaskView {
  TaskId id;
  std::string queue;
  TaskState state = TaskState::kReady;
  std::string key;
  int16_t priority = 0;
  int32_t attempt = 0;
  int32_t max_attempts = 0;
  absl::Time create_time;
  absl::Time schedule_time;
  std::optional<absl::Time> lease_time;
  std::optional<absl::Time> end_time;
  std::optional<TaskError> last_error;
  std::string worker_name;
  std::string worker_handle;
  std::optional<TaskProgress> progress;
  std::optional<TaskProgress> last_progress;  // of an earlier attempt
  int16_t stage = 0;
  std::string stage_name;
  int64_t version = 0;
  std::optional<Recurrence> recurrence;
  bool rerun_pending = false;
  bool cancel_requested = false;
  bool has_payload = false;  // it was asked for, as what follows, and is still kept
  std::string payload;
  std::string content_type;
  Headers headers;
  std::string result;
};

}  // namespace skiplane::model
