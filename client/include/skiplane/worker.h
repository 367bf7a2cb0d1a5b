// Runs a handler on the tasks of one or several queues until it is stopped.
//
//   auto worker = skiplane::Worker::Start(*client, {.queues = {{.name = "mail"}}},
//       [](const skiplane::LeasedTask& task, skiplane::Attempt&) {
//         return Send(task.payload) ? skiplane::Result::Done()
//                                   : skiplane::Result::Retry({.type = "SmtpError"});
//       });
//
// It leases what its threads can run, renews all leases it holds with one heartbeat per third of
// their duration, and settles finished attempts in batches: whatever finished while the call before
// was on its way. An outage or a restart of the broker is waited out: results are kept and sent
// when it is back, and a lease call whose answer got lost is repeated under the same id.
//
// At least once: a handler can run a second time on a task whose worker died or was cut off for
// longer than the lease, and the first run may still be going on. The fence lets one of them win.
// A handler that throws has failed: the attempt is retried with the exception's text.
//
// Thread-safe. The handler is called on `concurrency` threads at once.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "skiplane/client.h"
#include "skiplane/task.h"

namespace skiplane {

// What a handler says about its attempt.
class Result {
 public:
  // `output` is what the attempt brought forth, kept with its history if the queue keeps results:
  // at most 1 MiB, what is longer is cut off. `more` is what comes after it (ack.h): if the broker
  // refuses that, the attempt is retried with the refusal as its error.
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
  // Failed for good, whatever attempts are left.
  static Result Fail(TaskError error) { return Result(Kind::kFail, std::move(error)); }
  // Not now, not here: back to its place, and the attempt is not charged.
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

  // Goes out with the next heartbeat.
  virtual void Report(TaskProgress progress) = 0;
};

using Handler = std::function<Result(const LeasedTask&, Attempt&)>;

struct WorkerOptions {
  // 1 to 64.
  std::vector<LeaseQueue> queues{};
  // True: in the order given; false: by weight.
  bool strict_order = false;
  // Handlers at once, each on a thread of its own. 1 to 1000.
  int concurrency = 1;
  // Tasks held ahead of the handlers, so that short ones do not wait for the network. 0 to
  // 1000 - concurrency. They wait while a long task runs: leave it at 0 for tasks of seconds.
  int prefetch = 0;
  // How long after this worker's last sign of life its tasks go to others. 1 s to 12 h. Short finds
  // a dead worker soon, long survives a long outage of the network.
  absl::Duration lease_duration = absl::Seconds(30);
  // How long a call waits for tasks before it asks anew. 0 to 60 s.
  absl::Duration wait = absl::Seconds(20);
  // How long Stop() lets running handlers go on. 0 or more.
  absl::Duration stop_grace = absl::Seconds(10);
  // For people. Empty: "host:pid".
  std::string name{};
  // Told of calls that failed; the worker goes on by itself. Must not block.
  std::function<void(const absl::Status&)> on_error{};
};

struct WorkerCounts {
  int64_t done = 0;
  int64_t retried = 0;
  int64_t failed = 0;
  int64_t released = 0;
  // Leases that ended under a handler's hands or whose result came too late.
  int64_t lost = 0;
};

class Worker {
 public:
  // Returns INVALID_ARGUMENT for options out of range. Does not wait for the broker.
  static absl::StatusOr<std::unique_ptr<Worker>> Start(Client client, WorkerOptions options,
                                                       Handler handler);

  // Stops.
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Leases nothing more, hands back what no handler has begun, lets running handlers end within the
  // grace time, then asks them to stop and hands their tasks back. Returns when all handlers have
  // returned, results are delivered and the session is ended, which hands back what else was leased
  // for it; or gives up after 5 s without a broker. Idempotent. Not from a handler.
  void Stop();

  WorkerCounts counts() const;

 private:
  class Parts;
  explicit Worker(std::unique_ptr<Parts> parts);

  std::unique_ptr<Parts> parts_;
};

}  // namespace skiplane
