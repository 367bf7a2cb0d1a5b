// What goes into a queue, what a worker gets, and what becomes of it: plain values.
//
// Times are the database's clock, never the client's. Strings that hold payloads, tokens and error
// texts may hold any bytes; all others are UTF-8. The broker checks every bound given here and
// refuses a call beyond it as INVALID_ARGUMENT.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "absl/time/time.h"

namespace skiplane {

struct NewTask {
  // What the worker gets. 0 to 1 MiB.
  std::string payload{};
  // The payload's media type, for example "application/json". 0 to 255 bytes.
  std::string content_type{};
  // Small facts that travel with the payload. At most 64; keys of 1 to 128, values to 4096 bytes.
  std::map<std::string, std::string> headers{};
  // Smaller is more urgent. -32768 to 32767.
  int priority = 0;
  // Not before this time (at most 10 years ahead), or not before this long after the commit (0 to
  // 10 years). At most one of the two. Neither: at once.
  std::optional<absl::Time> schedule_time{};
  std::optional<absl::Duration> delay{};
  // Failed attempts that end the task as FAILED. 1 to 1000; 0 takes the queue's number.
  int max_attempts = 0;
  // The caller's own id, unique in its queue: a repeat makes no second task. 0 to 255 bytes.
  std::string key{};
};

struct EnqueueResult {
  std::string task_id{};
  // A task with this key was known: `task_id` is that task's, and nothing was made.
  bool existing = false;
};

// One attempt of one task, in the hands of a worker.
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
};

// Why an attempt failed. Kept as given.
struct TaskError {
  // A short class of the failure, for example "TimeoutError". 0 to 256 bytes.
  std::string type{};
  // The text for people, for example a stack trace. 0 to 64 KiB.
  std::string text{};
  // Groups failures that are the same fault. Optional, 0 to 256 bytes.
  std::string fingerprint{};
};

// How far a running attempt has come.
struct TaskProgress {
  // 0.0 to 1.0.
  double fraction = 0;
  // 0 to 1024 bytes.
  std::string message{};
};

// What became of one item of Ack or Nack. Only kDone changed anything; kAlreadySettled is what a
// repeat of a call sees whose answer got lost, and as good as kDone.
enum class SettleOutcome { kDone, kAlreadySettled, kLeaseLost, kNotFound };

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
};

}  // namespace skiplane
