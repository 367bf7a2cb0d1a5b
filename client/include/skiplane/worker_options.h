// Options, callbacks and counts of a Worker: plain values. The comments give the ranges.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "skiplane/calls.h"
#include "skiplane/task.h"

namespace skiplane {

// How an attempt ended, as the broker says.
enum class AttemptEnd {
  kDone,
  kRetried,    // it failed, and the task runs again
  kFailed,     // it failed, and so has the task: for good, or because no attempt is left
  kReleased,   // returned to the queue, not charged
  kCancelled,  // it did not succeed, and an operator had cancelled the task
  kLost,       // the lease was lost while the handler was running, or the result came too late
};

struct WorkerOptions {
  // 1 to 64.
  std::vector<LeaseQueue> queues{};
  // True: in the order given; false: by weight.
  bool strict_order = false;
  // Handlers at once, each on a thread of its own. 1 to 1000.
  int concurrency = 1;
  // Tasks held ahead of the handlers, so that short ones do not wait for the network. 0 to
  // 1000 - concurrency. They wait while a long task runs: leave it at 0 for tasks of seconds. For
  // those of less than a millisecond take a hundred: a message then holds many.
  int prefetch = 0;
  // How long after this worker's last sign of life its tasks go to others. 1 s to 12 h. A short one
  // detects a dead worker soon; a long one survives a long outage of the network.
  absl::Duration lease_duration = absl::Seconds(30);
  // How long a call waits for tasks before it asks again, if the broker has no streams: no longer
  // than half of lease_duration, so that the session of an idle worker stays alive. 0 to 60 s.
  absl::Duration wait = absl::Seconds(20);
  // True: the worker ends when nothing is ready any more: when a lease call that was made while no
  // attempt was under way gets no task. Tasks that are scheduled for later, such as retries with a
  // delay, do not keep it running, nor do those of paused queues. Calls do not wait; while attempts
  // run the worker asks whenever one has ended, and once per second.
  bool burst = false;
  // The worker ends when it has leased this many tasks and all are settled or lost.
  // 0 or more; 0: no such end.
  int64_t max_tasks = 0;
  // How long Stop() lets running handlers go on. 0 or more.
  absl::Duration stop_grace = absl::Seconds(10);
  // For people. Empty: "host:pid".
  std::string name{};
  // For people: what the worker runs, for example "mailer/7". 0 to 64 bytes of UTF-8 without NUL.
  // Empty: this library and its version.
  std::string version{};
  // Called for each call or stream that failed, and for each task whose content was not decoded
  // (codec.h); the worker goes on by itself. Must not block.
  std::function<void(const absl::Status&)> on_error{};
  // Called when an operator asks for something else than before; the worker obeys by itself
  // (worker.h). Must not block, nor call the worker.
  std::function<void(WorkerCommand)> on_command{};
  // Called once for each attempt, when it is over for the broker; if it was lost, its handler may
  // still run. Not called for results that could not be delivered before Stop() gave up. Must not
  // block, nor call the worker.
  std::function<void(const LeasedTask&, AttemptEnd)> on_attempt_end{};
};

// Attempts by their end.
struct WorkerCounts {
  int64_t done = 0;
  int64_t retried = 0;
  int64_t failed = 0;
  int64_t released = 0;
  int64_t cancelled = 0;
  int64_t lost = 0;
};

}  // namespace skiplane
