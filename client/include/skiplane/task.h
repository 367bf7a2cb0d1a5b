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

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "skiplane/new_task.h"

namespace skiplane {

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

// One attempt of one task, leased by a worker.
struct LeasedTask {
  std::string task_id{};
  // The right to settle this attempt: opaque. Keep it secret.
  std::string lease_token{};
  std::string queue{};
  // What the producer gave. Empty if `content_status` is not OK.
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
  // What the producer gave, if it gave one.
  std::optional<int64_t> version{};
  // Of a periodic task: the planned time that this run is for.
  std::optional<absl::Time> planned_time{};
  // The error of the last failed attempt, its text cut at 4 KiB, and what an earlier attempt
  // reported last. A new run and a new stage begin without.
  std::optional<TaskError> last_error{};
  std::optional<TaskProgress> last_progress{};
  // Why the payload could not be decoded (codec.h). A Worker's handler sees OK only.
  absl::Status content_status{};
};

// The outcome of one item of Ack, Nack or Settle. Only kSettled changed anything. A repeat of a
// call whose answer got lost sees kAlreadySettled, which is as good as kSettled. kRefused: the item
// asks for something impossible, and its lease is unchanged; correct it and settle it again, or
// nack it.
enum class SettleOutcome { kSettled, kAlreadySettled, kLeaseLost, kNotFound, kRefused };

// A task as operators see it, without its payload.
struct Task {
  std::string task_id{};
  std::string queue{};
  TaskState state = TaskState::kUnknown;
  std::string key{};
  int priority = 0;
  // Attempts begun and charged so far.
  int attempt_count = 0;
  int max_attempts = 0;
  absl::Time create_time{};
  // The earliest time of the next (or the running) attempt.
  absl::Time schedule_time{};
  std::optional<absl::Time> lease_time{};
  std::optional<absl::Time> end_time{};
  std::optional<TaskError> last_error{};
  // Of the worker that holds it, or held it last. The handle tells workers with one name apart.
  std::string worker_name{};
  std::string worker_handle{};
  // What the running attempt reported last, and what an earlier one did.
  std::optional<TaskProgress> progress{};
  std::optional<TaskProgress> last_progress{};
  // The stage that the task is at, or ended at; empty in a queue without stages.
  std::string stage{};
  std::optional<int64_t> version{};
  // Whether newer content waits for the running attempt to end.
  bool rerun_pending = false;
  // Whether an operator asked to cancel it while it runs.
  bool cancel_requested = false;
  // If it was asked for: the output of its last Ack, while the queue keeps it.
  std::string result{};
  // Why the result could not be decoded (codec.h); it is empty then.
  absl::Status content_status{};
};

// Which task: its id, or both its queue and its key.
struct GetTaskCall {
  std::string task_id{};
  std::string queue{};
  std::string key{};
  // Wait for the task's end at most this long; what is longer than 60 s takes several calls.
  absl::Duration wait{};
  // Whether to fill Task::result; then its payload is sent, too.
  bool with_result = false;
};

}  // namespace skiplane
