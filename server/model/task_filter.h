// Which tasks an operator means, and what shall become of them. Values and pure rules.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/model/task.h"

namespace skiplane::model {

// Which states are meant.
struct TaskStates {
  bool scheduled = false;
  bool ready = false;
  bool leased = false;
  bool succeeded = false;
  bool failed = false;
  bool cancelled = false;

  bool IsEmpty() const {
    return !(scheduled || ready || leased || succeeded || failed || cancelled);
  }

  bool Contain(TaskState state) const;

  friend bool operator==(const TaskStates&, const TaskStates&) = default;
};

// Tasks of one queue for which everything holds that is set.
struct TaskFilter {
  std::string queue;
  std::string stage;
  TaskStates states;
  std::string key_prefix;
  Headers headers;
  std::string fingerprint;
  std::optional<absl::Duration> min_age;
  std::optional<absl::Duration> max_age;
  std::optional<int16_t> priority;
  std::optional<bool> periodic;  // whether or not; unset: both
  std::vector<TaskId> ids;       // empty: any
  std::string error_type;
  int32_t min_attempts = 0;
  std::optional<absl::Time> start;  // created then or later
  std::optional<absl::Time> end;    // created before
  std::string payload_text;         // within its first 64 KiB

  // Whether brokers before 0.2 would pass over a part of it.
  bool IsForNewerBrokers() const;

  // Whether anything but the queue is asked for.
  bool IsNarrow() const;

  friend bool operator==(const TaskFilter&, const TaskFilter&) = default;
};

// A change of tasks; the numbers are those of the statements.
struct TaskChange {
  enum class Kind : int16_t {
    kPrioritize = 1,
    kRunNow = 2,
    kRunAt = 3,
    kPostpone = 4,
    kCancel = 5,
    kDelete = 6,
    kPause = 7,
    kResume = 8,
    kRetry = 9,
    kTrigger = 10,  // as kRunNow, of a periodic task, also of a paused one
    kDeleteQueue = 11,  // of no task: the queue and all that belongs to it
  };
  Kind kind = Kind::kRunNow;
  int16_t priority = 0;     // of kPrioritize
  absl::Time schedule_time;        // of kRunAt
  absl::Duration postpone;  // of kPostpone
  bool with_tasks = false;  // of kDeleteQueue

  // Whether it is for failed tasks, too.
  bool IsForFailed() const { return kind == Kind::kRetry || kind == Kind::kDelete; }

  // Whether a second one like it would do more than the first: run a task again, or later still.
  bool AddsUp() const {
    return kind == Kind::kRunNow || kind == Kind::kRunAt || kind == Kind::kPostpone ||
           kind == Kind::kRetry || kind == Kind::kTrigger;
  }

  friend bool operator==(const TaskChange&, const TaskChange&) = default;
};

// Both as the JSON text that a bulk operation's row holds, and back.
std::string BulkToJson(const TaskFilter& filter, const TaskChange& change);
absl::Status BulkFromJson(absl::string_view json, TaskFilter* filter, TaskChange* change);

}  // namespace skiplane::model
