// What a worker gets, and what operators see: plain values. new_task.h has what goes in.
//
// Times are the database's clock, never the client's. Strings that hold payloads, tokens and error
// texts may hold any bytes; all others are UTF-8. The broker checks every bound given here and
// refuses a call beyond it as INVALID_ARGUMENT.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "skiplane/new_task.h"

namespace skiplane {

// One attempt of one task, leased by a worker.
struct LeasedTask {
  std::string task_id{};
  // The right to settle this attempt: opaque. Keep it secret.
  std::string lease_token{};
  std::string queue{};
  // What the producer gave.
  std::string payload{};
  std::string content_type{};
  std::map<std::string, std::string> headers{};
  std::string key{};
  int priority = 0;
  // The number of this attempt, from 1, and the last one that is allowed.
  int attempt = 0;
  int max_attempts = 0;
  absl::Time create_time{};
  absl::Time schedule_time{};
  // The stage that the task is at; empty in a queue without stages.
  std::string stage{};
  // What the producer gave; 0 if it gave none.
  int64_t version = 0;
  // Of a periodic task: the planned time that this run is for.
  std::optional<absl::Time> planned_time{};
};

// Why an attempt failed. Kept as given; the broker cuts longer texts.
struct TaskError {
  // A short class of the failure, for example "TimeoutError". 0 to 256 bytes.
  std::string type{};
  // The text for people, for example a stack trace. 0 to 64 KiB.
  std::string text{};
  // Groups failures that are the same fault. Optional, 0 to 256 bytes.
  std::string fingerprint{};
};

// How far a running attempt is.
struct TaskProgress {
  // 0.0 to 1.0.
  double fraction = 0;
  // 0 to 1024 bytes; the broker cuts a longer text.
  std::string message{};
};

// The outcome of one item of Ack or Nack. Only kDone changed anything. A repeat of a call whose
// answer got lost sees kAlreadySettled, which is as good as kDone. kRefused: the item asks for
// something impossible, and its lease is unchanged; correct it and settle it again, or nack it.
enum class SettleOutcome { kDone, kAlreadySettled, kLeaseLost, kNotFound, kRefused };

enum class TaskState { kUnknown, kScheduled, kReady, kLeased, kSucceeded, kFailed, kCancelled };

// A task as operators see it, without its payload.
struct Task {
  std::string task_id{};
  std::string queue{};
  TaskState state = TaskState::kUnknown;
  std::string key{};
  int priority = 0;
  // Attempts begun and charged so far.
  int attempt = 0;
  int max_attempts = 0;
  absl::Time create_time{};
  // The earliest time of the next (or the running) attempt.
  absl::Time schedule_time{};
  std::optional<absl::Time> lease_time{};
  std::optional<absl::Time> end_time{};
  std::optional<TaskError> last_error{};
  std::string worker_name{};
  std::optional<TaskProgress> progress{};
  // The stage that the task is at, or ended at; empty in a queue without stages.
  std::string stage{};
  int64_t version = 0;
  // Whether newer content waits for the running attempt to end.
  bool rerun_pending = false;
};

}  // namespace skiplane
