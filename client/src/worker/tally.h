// What became of a worker's attempts, and whom to tell of failed calls. Thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>

#include "absl/status/status.h"
#include "skiplane/worker_options.h"

namespace skiplane::internal {

class Tally {
 public:
  explicit Tally(const WorkerOptions& options)
      : on_error_(options.on_error), on_attempt_end_(options.on_attempt_end) {}

  void Ended(const LeasedTask& task, AttemptEnd end) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      ++CountOf(end);
    }
    if (on_attempt_end_) on_attempt_end_(task, end);
  }

  void Error(const absl::Status& status) const {
    if (on_error_) on_error_(status);
  }

  WorkerCounts counts() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return counts_;
  }

 private:
  int64_t& CountOf(AttemptEnd end) {
    switch (end) {
      case AttemptEnd::kDone: return counts_.done;
      case AttemptEnd::kRetried: return counts_.retried;
      case AttemptEnd::kFailed: return counts_.failed;
      case AttemptEnd::kReleased: return counts_.released;
      case AttemptEnd::kCancelled: return counts_.cancelled;
      case AttemptEnd::kLost: break;
    }
    return counts_.lost;
  }

  const std::function<void(const absl::Status&)> on_error_;
  const std::function<void(const LeasedTask&, AttemptEnd)> on_attempt_end_;
  mutable std::mutex mutex_;
  WorkerCounts counts_;
};

}  // namespace skiplane::internal
