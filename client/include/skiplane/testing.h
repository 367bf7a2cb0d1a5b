// A broker in memory, for tests of programs that enqueue and of the handlers that they run: without
// a server, threads or waiting. Link skiplane::testing, to tests only; it needs no test framework.
//
//   skiplane::InMemoryBroker broker;
//   auto worker = broker.StartWorker({.queues = {{.name = "mail"}}}, SendMail);
//   PlaceOrder(broker, order);         // which takes a skiplane::Producer& (roles.h)
//   broker.RunUntilIdle();             // runs SendMail, which says Result::Retry
//   broker.RunFor(absl::Minutes(5));   // runs it again: the default delay is over
//   EXPECT_EQ(broker.Tasks("mail", skiplane::TaskState::kSucceeded).size(), 1);
//
// Time stands still until the test moves it. Handlers run only while the test calls RunUntilIdle,
// RunFor or RunOne, on its thread, one after the other; workers take turns. So a test takes the
// same course each time.
//
// Thread-safe. Handlers may call it; what runs tasks does nothing then.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "skiplane/roles.h"

namespace skiplane {

namespace internal {
struct MemoryState;
}

struct InMemoryOptions {
  // The time at the start: by default 2026-01-01 00:00:00 UTC.
  absl::Time now = absl::FromUnixSeconds(1'767'225'600);
  // False: a queue that nobody created is NOT_FOUND (QUEUE_NOT_FOUND).
  bool creates_queues = true;
};

// A task with its content, and with its result whatever the queue keeps.
struct StoredTask {
  Task task{};
  std::string payload{};
  std::string content_type{};
  std::map<std::string, std::string> headers{};
};

// It does what docs/PROTOCOL.md promises of checks, order, schedule times, keys, versions, request
// ids, attempts, retries, stages, follow-ups, periods, pauses, cancels, max_run_duration and
// max_depth, and refuses with the reasons of a broker (error.h). Other than a broker it
//   - makes queues that are missing, unless it is told not to;
//   - asks the queues of a worker in their order, whatever their weights and max_tasks are, and
//     runs one handler of a worker at a time, whatever its concurrency is;
//   - delays retries without jitter, and bounds neither rates nor bytes;
//   - knows no clock of cron: such a task waits until Trigger() or its own schedule_time;
//   - lets handlers stop their workers: Stop() returns at once and the handler goes on; it is asked
//     to stop when stop_grace is over by the broker's time, or by EndGrace();
//   - hands on progress at once: a broker, what a heartbeat that was answered had reported;
//   - knows no operators: nothing is asked of its workers;
//   - waits for nothing (see Lease and GetTask), and keeps what has ended for ever.
// Codecs are parts of a Client: content is here as it was given.
class InMemoryBroker : public Producer, public Leaser, public QueueAdmin, public WorkerStarter {
 public:
  explicit InMemoryBroker(InMemoryOptions options = {});
  // Workers that still run are stopped.
  ~InMemoryBroker() override;
  InMemoryBroker(const InMemoryBroker&) = delete;
  InMemoryBroker& operator=(const InMemoryBroker&) = delete;

  absl::Time Now() const;

  // Moves the time ahead and runs nothing; negative durations are none. Takes leases back whose
  // time is over and attempts that are above max_run_duration, also that of the handler that calls.
  void Advance(absl::Duration duration);

  // Runs what is ready until no worker has anything to run; how many attempts that were. A task
  // that its handler releases is left for the next call.
  int RunUntilIdle();

  // The same now, and whenever a task becomes due within `duration`; then the time is later by it.
  int RunFor(absl::Duration duration);

  // Runs the most urgent task of the worker whose turn it is. False: nothing is ready.
  bool RunOne();

  // In the order in which they were created; of one state, as GetTask says it. An unknown queue has
  // none.
  std::vector<StoredTask> Tasks(absl::string_view queue) const;
  std::vector<StoredTask> Tasks(absl::string_view queue, TaskState state) const;

  // The next `calls` of Enqueue and EnqueueAsync fail with `error`, and bring nothing: for example
  // absl::UnavailableError(""), as what is left when a Client has given up.
  void FailEnqueues(int calls, absl::Status error);

  // As an operator does. NOT_FOUND (TASK_NOT_FOUND); FAILED_PRECONDITION (WRONG_STATE).
  // Ends a waiting task; asks the handler of a running one to stop.
  absl::Status Cancel(absl::string_view task_id);
  // A FAILED task starts again with all its attempts; one that waits for a retry is ready now.
  absl::Status Retry(absl::string_view task_id);
  // Runs a waiting periodic task once now.
  absl::Status Trigger(absl::string_view task_id);

  // As if the worker of a running task had died or was cut off: the attempt is charged, with the
  // error type LEASE_LOST, and what its handler says is dropped. For handlers that call it, and for
  // what Lease gave. Refusals as above.
  absl::Status LoseLease(absl::string_view task_id);

  // As those of a Client.
  absl::StatusOr<EnqueueResult> Enqueue(absl::string_view queue, NewTask task) override;
  absl::StatusOr<std::vector<EnqueueResult>> Enqueue(EnqueueCall call) override;
  // `done` is called before it returns.
  PendingCall EnqueueAsync(EnqueueCall call, Done<std::vector<EnqueueResult>> done) override;
  absl::StatusOr<Task> GetTask(absl::string_view task_id) override;
  // With a `wait` it runs what is ready first, as RunUntilIdle; the time stays.
  absl::StatusOr<Task> GetTask(GetTaskCall call) override;
  // Answers at once, also when nothing is ready.
  absl::StatusOr<LeaseAnswer> Lease(LeaseCall call) override;
  absl::StatusOr<std::vector<SettleResult>> Ack(std::vector<AckItem> items) override;
  absl::StatusOr<std::vector<SettleResult>> Nack(std::vector<NackItem> items) override;
  absl::StatusOr<std::vector<SettleResult>> Settle(std::vector<SettleItem> items) override;
  absl::StatusOr<SettleAndLeaseAnswer> SettleAndLease(std::vector<SettleItem> items,
                                                      LeaseCall next) override;
  absl::StatusOr<HeartbeatAnswer> Heartbeat(HeartbeatCall call) override;
  absl::StatusOr<Queue> CreateQueue(absl::string_view name) override;
  absl::StatusOr<Queue> CreateQueue(absl::string_view name, const QueueSettings& settings,
                                    int lane_count = 1) override;
  absl::StatusOr<Queue> GetQueue(absl::string_view name) override;
  absl::StatusOr<std::vector<Queue>> ListQueues() override;
  absl::StatusOr<Queue> UpdateQueue(absl::string_view name, const QueueSettings& settings,
                                    absl::string_view etag = "") override;
  absl::StatusOr<Queue> PauseQueue(absl::string_view name, PauseMode mode = PauseMode::kLease,
                                   absl::string_view reason = "") override;
  absl::StatusOr<Queue> ResumeQueue(absl::string_view name) override;

  // Its WaitForEnd() runs what is ready. OK at the end that burst or max_tasks set; CANCELLED when
  // it was stopped; FAILED_PRECONDITION where a Worker would go on waiting.
  absl::StatusOr<std::unique_ptr<RunningWorker>> StartWorker(WorkerOptions options,
                                                             Handler handler) override;

 private:
  const std::shared_ptr<internal::MemoryState> state_;
};

}  // namespace skiplane
