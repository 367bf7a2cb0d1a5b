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
};

// The text that callers see: "<lane>-<id>". They treat it as opaque.
std::string FormatTaskId(const TaskId& id);

// INVALID_FIELD (field "task_id") if `text` is not the result of FormatTaskId.
absl::StatusOr<TaskId> ParseTaskId(absl::string_view text);

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
};

// Why an attempt failed.
struct TaskError {
  std::string type;
  std::string text;  // any bytes
  std::string fingerprint;
};

enum class TaskState : int16_t {
  kScheduled = 1,
  kReady = 2,
  kLeased = 3,
  kSucceeded = 4,
  kFailed = 5,
  kCancelled = 6,
};

struct TaskProgress {
  double fraction = 0;
  std::string message;
};

// A task as GetTask shows it.
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
  std::optional<TaskProgress> progress;
};

}  // namespace skiplane::model
