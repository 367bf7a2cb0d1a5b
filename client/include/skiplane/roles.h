// What user code takes in place of a Client, so that its tests can give it something else: an
// InMemoryBroker (testing.h), or a mock. A function that enqueues takes a Producer:
//
//   absl::Status PlaceOrder(skiplane::Producer& producer, const Order& order);
//
// A Client is all of these, so PlaceOrder(*client, order) is what the program does. client.h says
// what each call does and how it fails; what is made here keeps to that, as mocks should. Until 1.0
// a minor version may add calls. All are pure virtual, and copied only by those that they are made
// of. Thread-safety is that of what is behind them: a Client and an InMemoryBroker are thread-safe.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "skiplane/calls.h"
#include "skiplane/pending_call.h"
#include "skiplane/queue.h"
#include "skiplane/result.h"
#include "skiplane/worker_options.h"

namespace skiplane {

// Enqueues tasks, and sees what becomes of them.
class Producer {
 public:
  virtual ~Producer() = default;

  virtual absl::StatusOr<EnqueueResult> Enqueue(absl::string_view queue, NewTask task) = 0;
  virtual absl::StatusOr<std::vector<EnqueueResult>> Enqueue(EnqueueCall call) = 0;
  virtual PendingCall EnqueueAsync(EnqueueCall call, Done<std::vector<EnqueueResult>> done) = 0;
  virtual absl::StatusOr<Task> GetTask(absl::string_view task_id) = 0;
  virtual absl::StatusOr<Task> GetTask(GetTaskCall call) = 0;

 protected:
  Producer() = default;
  Producer(const Producer&) = default;
  Producer& operator=(const Producer&) = default;
};

// Leases tasks and settles them by calls of its own. Most programs start a worker instead.
class Leaser {
 public:
  virtual ~Leaser() = default;

  virtual absl::StatusOr<LeaseAnswer> Lease(LeaseCall call) = 0;
  virtual absl::StatusOr<std::vector<SettleResult>> Ack(std::vector<AckItem> items) = 0;
  virtual absl::StatusOr<std::vector<SettleResult>> Nack(std::vector<NackItem> items) = 0;
  virtual absl::StatusOr<std::vector<SettleResult>> Settle(std::vector<SettleItem> items) = 0;
  virtual absl::StatusOr<SettleAndLeaseAnswer> SettleAndLease(std::vector<SettleItem> items,
                                                              LeaseCall next) = 0;
  virtual absl::StatusOr<HeartbeatAnswer> Heartbeat(HeartbeatCall call) = 0;

 protected:
  Leaser() = default;
  Leaser(const Leaser&) = default;
  Leaser& operator=(const Leaser&) = default;
};

// Makes queues and changes them.
class QueueAdmin {
 public:
  virtual ~QueueAdmin() = default;

  virtual absl::StatusOr<Queue> CreateQueue(absl::string_view name) = 0;
  virtual absl::StatusOr<Queue> CreateQueue(absl::string_view name, const QueueSettings& settings,
                                            int lane_count) = 0;
  virtual absl::StatusOr<Queue> GetQueue(absl::string_view name) = 0;
  virtual absl::StatusOr<std::vector<Queue>> ListQueues() = 0;
  virtual absl::StatusOr<Queue> UpdateQueue(absl::string_view name, const QueueSettings& settings,
                                            absl::string_view etag) = 0;
  virtual absl::StatusOr<Queue> PauseQueue(absl::string_view name, PauseMode mode,
                                           absl::string_view reason) = 0;
  virtual absl::StatusOr<Queue> ResumeQueue(absl::string_view name) = 0;

 protected:
  QueueAdmin() = default;
  QueueAdmin(const QueueAdmin&) = default;
  QueueAdmin& operator=(const QueueAdmin&) = default;
};

// A worker that was started. A Worker is one; worker.h says what each call does.
class RunningWorker {
 public:
  // Stops.
  virtual ~RunningWorker() = default;
  RunningWorker(const RunningWorker&) = delete;
  RunningWorker& operator=(const RunningWorker&) = delete;

  virtual void Stop() = 0;
  virtual void EndGrace() = 0;
  virtual absl::Status WaitForEnd() = 0;
  virtual WorkerCounts counts() const = 0;

 protected:
  RunningWorker() = default;
};

// Starts workers. That of a Client is a Worker, with threads of its own.
class WorkerStarter {
 public:
  virtual ~WorkerStarter() = default;

  // INVALID_ARGUMENT for options out of range.
  virtual absl::StatusOr<std::unique_ptr<RunningWorker>> StartWorker(WorkerOptions options,
                                                                     Handler handler) = 0;

 protected:
  WorkerStarter() = default;
  WorkerStarter(const WorkerStarter&) = default;
  WorkerStarter& operator=(const WorkerStarter&) = default;
};

}  // namespace skiplane
