// A connection to one or several brokers: producers enqueue with it, workers lease and settle with
// it, operators manage queues with it.
//
//   auto client = skiplane::Client::Connect({.addresses = {"127.0.0.1:7070"}});
//   if (!client.ok()) return client.status();
//   auto made = client->Enqueue("mail", {.payload = "hello", .key = "order-17"});
//
// A program that runs tasks uses skiplane::Worker (worker.h), which sends heartbeats, settles in
// batches and survives broker restarts. Code that is to be tested takes roles (roles.h) instead.
//
// Enqueues of all threads share one stream: what comes while a message is on its way goes in the
// next one. So all go to one broker until the stream ends: after 15 minutes, when idle for one, or
// with the broker. Without streams, above 3 MiB or without a request id they are calls like others.
//
// Every call has a deadline. A call that fails as UNAVAILABLE is sent again, with growing random
// pauses, up to ClientOptions::max_attempts times, where a repeat does no harm: Enqueue, Lease
// and the changes of operators carry a request id, Ack, Nack, Settle and Heartbeat are fenced by
// lease tokens, the rest changes nothing. So is a call that fails as RESOURCE_EXHAUSTED, which
// changes nothing, no earlier than the broker says. UNKNOWN (COMMIT_OUTCOME_UNKNOWN) is never
// repeated by the client: it means an Enqueue without a request id.
//
// A Client is a handle: copies share the connection, and calls in flight keep it alive, so a Client
// may be destroyed before they end. Thread-safe. Synchronous calls block the calling thread and
// must not be made from a callback of an asynchronous one.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "skiplane/calls.h"
#include "skiplane/lease.h"
#include "skiplane/options.h"
#include "skiplane/queue.h"
#include "skiplane/roles.h"
#include "skiplane/task.h"

namespace skiplane {

namespace internal {
struct Access;
class Connection;
}

class Client : public Producer, public Leaser, public QueueAdmin, public WorkerStarter {
 public:
  // Checks the options and reads the TLS files. The first call connects, so a broker may start
  // later than its clients.
  static absl::StatusOr<Client> Connect(ClientOptions options = {});

  // Puts one task into `queue`. OK means that it is committed.
  absl::StatusOr<EnqueueResult> Enqueue(absl::string_view queue, NewTask task) override;

  // Puts all tasks of the call into its queue, or none. One result per task, in order.
  absl::StatusOr<std::vector<EnqueueResult>> Enqueue(EnqueueCall call) override;

  // Leases tasks that are ready, or waits for some. No ready task is OK and empty.
  absl::StatusOr<LeaseAnswer> Lease(LeaseCall call) override;

  // Waits for one task up to `wait` and returns it with the right to settle it, or nullopt. It has
  // to be settled within `duration`: this lease cannot be renewed. A task whose payload cannot be
  // decoded (codec.h) is nacked, and is the error.
  absl::StatusOr<std::optional<TaskLease>> LeaseOne(absl::string_view queue, absl::Duration wait,
                                                    absl::Duration duration = absl::Seconds(30));

  // Ends attempts as succeeded. 1 to 1000 tokens, one result each, in order: an item that is not
  // acked never fails the call.
  absl::StatusOr<std::vector<SettleResult>> Ack(std::vector<std::string> lease_tokens);

  // The same with the attempts' outputs and what follows them; together at most 4 MiB.
  // INVALID_ARGUMENT for an item with both a next_stage and finish.
  absl::StatusOr<std::vector<SettleResult>> Ack(std::vector<AckItem> items) override;

  // Ends attempts that did not succeed. 1 to 1000 items, one result each, in order.
  absl::StatusOr<std::vector<SettleResult>> Nack(std::vector<NackItem> items) override;

  // Ends attempts, each in its own way. 1 to 1000 items, one result each, in order.
  absl::StatusOr<std::vector<SettleResult>> Settle(std::vector<SettleItem> items) override;

  // The same, and leases the next tasks in one call: in one commit when some are ready at once.
  // A bad lease is refused before anything is settled.
  absl::StatusOr<SettleAndLeaseAnswer> SettleAndLease(std::vector<SettleItem> items,
                                                      LeaseCall next) override;

  // Renews all leases of a worker and says whether it still holds those that the call names; or
  // ends its session and releases everything.
  absl::StatusOr<HeartbeatAnswer> Heartbeat(HeartbeatCall call) override;

  // The same without blocking.
  PendingCall EnqueueAsync(EnqueueCall call, Done<std::vector<EnqueueResult>> done) override;
  PendingCall LeaseAsync(LeaseCall call, Done<LeaseAnswer> done);
  PendingCall AckAsync(std::vector<std::string> lease_tokens,
                       Done<std::vector<SettleResult>> done);
  PendingCall AckAsync(std::vector<AckItem> items, Done<std::vector<SettleResult>> done);
  PendingCall NackAsync(std::vector<NackItem> items, Done<std::vector<SettleResult>> done);
  PendingCall SettleAsync(std::vector<SettleItem> items, Done<std::vector<SettleResult>> done);
  PendingCall SettleAndLeaseAsync(std::vector<SettleItem> items, LeaseCall next,
                                  Done<SettleAndLeaseAnswer> done);
  PendingCall HeartbeatAsync(HeartbeatCall call, Done<HeartbeatAnswer> done);

  // Creates a queue with default settings, or returns the existing one, whatever its settings are.
  // For a service that calls it at each start.
  absl::StatusOr<Queue> CreateQueue(absl::string_view name) override;

  // Creates a queue. ALREADY_EXISTS if it exists with others, or another lane_count (1 to 64).
  absl::StatusOr<Queue> CreateQueue(absl::string_view name, const QueueSettings& settings,
                                    int lane_count = 1) override;

  // Returns a queue with its counts; all queues ordered by name, without counts.
  absl::StatusOr<Queue> GetQueue(absl::string_view name) override;
  absl::StatusOr<std::vector<Queue>> ListQueues() override;

  // Replaces the settings of a queue. With an `etag` only if the queue still has it; otherwise
  // ABORTED (ETAG_MISMATCH).
  absl::StatusOr<Queue> UpdateQueue(absl::string_view name, const QueueSettings& settings,
                                    absl::string_view etag = "") override;

  // Stops leases, enqueues or both; `reason` is for the next person. INVALID_ARGUMENT for kNone.
  absl::StatusOr<Queue> PauseQueue(absl::string_view name, PauseMode mode = PauseMode::kLease,
                                   absl::string_view reason = "") override;

  // Ends a pause. A queue that is not paused is OK.
  absl::StatusOr<Queue> ResumeQueue(absl::string_view name) override;

  // Returns a task. A finished one is found while its history is kept.
  absl::StatusOr<Task> GetTask(absl::string_view task_id) override;

  // The same of a task that is named by its key; or waits first until the task has ended: then the
  // answer is the task as it ended, or as it is when `wait` is over.
  absl::StatusOr<Task> GetTask(GetTaskCall call) override;

  // A Worker (worker.h) with a copy of this client.
  absl::StatusOr<std::unique_ptr<RunningWorker>> StartWorker(WorkerOptions options,
                                                             Handler handler) override;

 private:
  friend struct internal::Access;
  explicit Client(std::shared_ptr<internal::Connection> connection);

  std::shared_ptr<internal::Connection> connection_;
};

}  // namespace skiplane
