// Runs a handler on the tasks of one or several queues until it is stopped.
//
//   auto worker = skiplane::Worker::Start(*client, {.queues = {{.name = "mail"}}},
//       [](const skiplane::LeasedTask& task, skiplane::Attempt&) {
//         return Send(task.payload) ? skiplane::Result::Done()
//                                   : skiplane::Result::Retry({.type = "SmtpError"});
//       });
//
// It takes what its threads can run, renews all leases it holds with one heartbeat per third of
// their duration, and settles finished attempts in batches: those that finished while the message
// before was on its way. All of that is one stream. It survives an outage or a restart of the
// broker: it keeps results and sends them when the broker is back, on a stream that names what is
// still held. With a broker that has no streams, and in a burst, it makes calls: Lease, Settle and
// Heartbeat. A lease call whose answer got lost is repeated with the same id.
//
// It obeys operators. Asked to be quiet, it takes no more tasks, finishes what it holds, and waits
// until it is asked to run again. Asked to stop, it does what Stop() does: WaitForEnd() returns.
//
// At least once: a handler can run a second time on a task whose worker died or was cut off for
// longer than the lease, and the first run may still be going on. Fencing accepts exactly one
// result. A handler that throws has failed: the attempt is retried with the exception's text.
//
// Thread-safe. The handler is called on `concurrency` threads at once.
#pragma once

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "skiplane/client.h"
#include "skiplane/result.h"
#include "skiplane/roles.h"
#include "skiplane/task.h"
#include "skiplane/worker_options.h"

namespace skiplane {

class Worker : public RunningWorker {
 public:
  // Returns INVALID_ARGUMENT for options out of range. Does not wait for the broker.
  static absl::StatusOr<std::unique_ptr<Worker>> Start(Client client, WorkerOptions options,
                                                       Handler handler);

  // Stops.
  ~Worker() override;

  // Leases nothing more, releases tasks that no handler has begun, lets running handlers end within
  // the grace time, then asks them to stop. A task whose handler was asked is released when it
  // returns, unless its result is Done. Returns when all handlers have returned, results are
  // delivered and the session is ended, which releases what else was leased for it; or gives up
  // after 5 s without a broker. Idempotent. Not from a handler.
  void Stop() override;

  // The grace time of Stop() is over, whether it has begun or is still to come.
  void EndGrace() override;

  // Returns OK when the worker has reached the end that burst or max_tasks set, so that Stop() has
  // nothing left to wait for. Returns the failure of its last lease call when a burst cannot go on,
  // and CANCELLED when Stop() is called or an operator asks the worker to stop. Without burst and
  // max_tasks it waits for that.
  absl::Status WaitForEnd() override;

  WorkerCounts counts() const override;

 private:
  class Parts;
  explicit Worker(std::unique_ptr<Parts> parts);

  std::unique_ptr<Parts> parts_;
};

}  // namespace skiplane
