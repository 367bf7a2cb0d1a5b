// What an operator asks of a worker, as far as it has heard. Thread-safe.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <utility>

#include "client/src/worker/holdings.h"
#include "skiplane/calls.h"

namespace skiplane::internal {

class Command {
 public:
  // `on_change` may be empty.
  Command(Holdings& holdings, std::function<void(WorkerCommand)> on_change)
      : holdings_(holdings), on_change_(std::move(on_change)) {}

  // What a heartbeat says. A stop is final.
  void Heard(WorkerCommand command) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (command_ == command || command_ == WorkerCommand::kStop) return;
      command_ = command;
      holdings_.SetQuiet(command != WorkerCommand::kRun);
      changed_.notify_all();
    }
    if (on_change_) on_change_(command);
  }

  // What the answer to a Lease says: a broker that has not heard of the latest command may say that
  // there is none, so only heartbeats do.
  void HeardByLease(WorkerCommand command) {
    if (command != WorkerCommand::kRun) Heard(command);
  }

  bool IsStop() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return command_ == WorkerCommand::kStop;
  }

  // Returns when the worker is to stop: true; false once it is closed.
  bool WaitForStop() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return is_closed_ || command_ == WorkerCommand::kStop; });
    return !is_closed_;
  }

  void Close() {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_closed_ = true;
    changed_.notify_all();
  }

 private:
  Holdings& holdings_;
  const std::function<void(WorkerCommand)> on_change_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool is_closed_ = false;
  WorkerCommand command_ = WorkerCommand::kRun;
};

}  // namespace skiplane::internal
