// One leased task of a worker, from the answer of Lease to the answer of Settle.
//
// Its owner is whoever moves it on: exactly one of Begin, End, Lose and Withdraw wins each step, so
// a lost lease is never settled and a task that was handed back is not settled again. Thread-safe.
#pragma once

#include <cstddef>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>

#include "skiplane/calls.h"
#include "skiplane/worker.h"

namespace skiplane::internal {

class Hold : public Attempt {
 public:
  explicit Hold(LeasedTask task) : task_(std::move(task)) {}

  const LeasedTask& task() const { return task_; }

  std::stop_token stop_token() const override { return stop_.get_token(); }
  void Report(TaskProgress progress) override;
  void RequestStop() { stop_.request_stop(); }

  // A handler starts. False: the lease was lost or handed back before.
  bool Begin() { return Move(State::kWaiting, State::kRunning); }
  // The handler returned. True: its result is to be sent.
  bool End() { return Move(State::kRunning, State::kSettling); }
  // The broker says that the lease is over. True if that is news; asks the handler to stop.
  bool Lose();
  // The worker hands the task back. True: a release is to be sent. A handler that runs is asked to
  // stop, and the task is handed back when it has returned.
  bool Withdraw();
  bool is_withdrawn() const;

  // Where it is in its Holdings, and guarded by their mutex.
  struct Place {
    size_t index = 0;
    bool is_held = false;
    bool is_waiting = false;
    bool is_running = false;
  };
  Place place;

  // The state for a heartbeat, with the progress that was not reported yet.
  HeldLease Heartbeat();

 private:
  enum class State { kWaiting, kRunning, kSettling, kLost };

  bool Move(State from, State to);

  const LeasedTask task_;
  std::stop_source stop_;

  mutable std::mutex mutex_;
  State state_ = State::kWaiting;
  bool is_withdrawn_ = false;
  std::optional<TaskProgress> progress_;
};

}  // namespace skiplane::internal
