// What a handler says about its attempt, and what it can do while it runs.
#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "absl/time/time.h"
#include "skiplane/ack.h"
#include "skiplane/task.h"

namespace skiplane {

// What a handler says about its attempt.
class Result {
 public:
  // `output` is kept with the attempt's history if the queue keeps results: at most 1 MiB, with a
  // codec 1 KiB less; a longer one is cut. `more` is what follows (ack.h): if the broker refuses
  // that, the attempt is retried with the refusal as its error.
  static Result Done(std::string output = {}, AckMore more = {}) {
    Result result(Kind::kDone);
    result.output_ = std::move(output);
    result.more_ = std::move(more);
    return result;
  }
  // Failed: runs again after `delay`, or after the queue's retry delay, while attempts are left.
  static Result Retry(TaskError error, std::optional<absl::Duration> delay = std::nullopt) {
    return Result(Kind::kRetry, std::move(error), delay);
  }
  // Failed for good, even if attempts are left.
  static Result Fail(TaskError error) { return Result(Kind::kFail, std::move(error)); }
  // Return the task to its original position; not a failure, and not charged.
  static Result Release() { return Result(Kind::kRelease); }

  enum class Kind { kDone, kRetry, kFail, kRelease };
  Kind kind() const { return kind_; }
  const TaskError& error() const { return error_; }
  std::optional<absl::Duration> delay() const { return delay_; }
  const std::string& output() const { return output_; }
  const AckMore& more() const { return more_; }

 private:
  explicit Result(Kind kind, TaskError error = {}, std::optional<absl::Duration> delay = {})
      : kind_(kind), error_(std::move(error)), delay_(delay) {}

  Kind kind_;
  TaskError error_;
  std::optional<absl::Duration> delay_;
  std::string output_{};
  AckMore more_{};
};

// What a handler can do while it runs. Thread-safe.
class Attempt {
 public:
  virtual ~Attempt() = default;

  // Asks to stop when the lease is lost, as after max_run_duration (the result will be dropped),
  // when an operator asks to cancel the task, and when the grace time of Stop() is over.
  virtual std::stop_token stop_token() const = 0;

  // Goes out with the next heartbeat. The attempt after this one gets it as
  // LeasedTask::last_progress, unless this one succeeds.
  virtual void Report(TaskProgress progress) = 0;
};

using Handler = std::function<Result(const LeasedTask&, Attempt&)>;

}  // namespace skiplane
