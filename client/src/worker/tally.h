// What became of a worker's attempts, and whom to tell of failed calls. Thread-safe.
#pragma once

#include <functional>
#include <mutex>
#include <utility>

#include "absl/status/status.h"
#include "skiplane/worker.h"

namespace skiplane::internal {

class Tally {
 public:
  explicit Tally(std::function<void(const absl::Status&)> on_error)
      : on_error_(std::move(on_error)) {}

  void Settled(Result::Kind kind) {
    const std::lock_guard<std::mutex> lock(mutex_);
    switch (kind) {
      case Result::Kind::kDone: ++counts_.done; break;
      case Result::Kind::kRetry: ++counts_.retried; break;
      case Result::Kind::kFail: ++counts_.failed; break;
      case Result::Kind::kRelease: ++counts_.released; break;
    }
  }

  void Lost() {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++counts_.lost;
  }

  void Error(const absl::Status& status) const {
    if (on_error_) on_error_(status);
  }

  WorkerCounts counts() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return counts_;
  }

 private:
  const std::function<void(const absl::Status&)> on_error_;
  mutable std::mutex mutex_;
  WorkerCounts counts_;
};

}  // namespace skiplane::internal
