// Arguments and answers of a Client's calls: one struct per call, so that a new argument breaks no
// program. Plain values; Client explains the calls.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "skiplane/pending_call.h"
#include "skiplane/settle.h"
#include "skiplane/task.h"

namespace skiplane {

struct EnqueueCall {
  // Of all tasks that name none of their own.
  std::string queue{};
  // 1 to 1000 of up to 64 queues, all or none, in the order in which they shall be leased in each.
  std::vector<NewTask> tasks{};
  // Makes the call repeatable for 24 hours. Empty: a random one, which covers the attempts of this
  // call; give your own to be able to repeat the call after your process died.
  std::string request_id{};
  // True: no request id at all. Then the call is sent once only, whatever ClientOptions say.
  bool without_request_id = false;
  // Zero: ClientOptions::call_timeout.
  absl::Duration timeout{};
};

struct LeaseQueue {
  std::string name{};
  // The share of this queue among several. 1 to 1000.
  int weight = 1;
  // Only tasks at this stage; a queue may be listed once per stage. Empty: any stage, later ones
  // first.
  std::string stage{};
  // At most this many tasks of it. 1 to 1000; 0: as many as the call takes.
  int max_tasks = 0;
};

struct LeaseCall {
  // 1 to 64 different ones.
  std::vector<LeaseQueue> queues{};
  // True: a later queue is asked only when the earlier ones have nothing ready.
  bool strict_order = false;
  // The running worker process: a random id of its own. All leases of a worker last as long as its
  // session, which Lease and Heartbeat renew. Empty: this call is a worker of its own, whose leases
  // last for lease_duration and cannot be renewed.
  std::string worker_id{};
  // For people, for example "host:pid".
  std::string worker_name{};
  // For people: what the worker runs, for example "mailer/7". 0 to 64 bytes; empty: as before.
  std::string client_version{};
  // For people: how many tasks it works on at once. 0 to 100000; 0: as before.
  int concurrency = 0;
  // 1 to 1000.
  int max_tasks = 1;
  // Payloads, headers, last errors and last progress together, but always at least one task.
  // 1 to 3145728; 0 takes the most.
  int max_bytes = 0;
  // Wait for a task at most this long. 0 to 60 s.
  absl::Duration wait{};
  // How long the worker may stay silent before its tasks go to others. 1 s to 12 h. Unset: the
  // first queue's setting.
  std::optional<absl::Duration> lease_duration{};
  // A repeat of the same worker with the same id gets the same leases; needs a worker_id. Empty: a
  // random one, which covers the attempts of this call.
  std::string request_id{};
  // Zero: ClientOptions::call_timeout. `wait` is added to it.
  absl::Duration timeout{};
};

// What an operator asks a worker to do.
enum class WorkerCommand {
  kRun,
  kQuiet,  // lease no more, finish what is held, go on with heartbeats and wait
  kStop,   // finish or give back what is held, end the session and exit
};

struct LeaseAnswer {
  // Most urgent first; empty when nothing was ready in time.
  std::vector<LeasedTask> tasks{};
  // How long the leases last, counted from the moment the call was sent; 0 without tasks.
  absl::Duration lease_remaining{};
  std::vector<std::string> paused_queues{};
  // As of the last second.
  WorkerCommand command = WorkerCommand::kRun;
};

struct SettleAndLeaseAnswer {
  // One per item, in order.
  std::vector<SettleResult> results{};
  std::optional<LeaseAnswer> lease{};
  // Why there is no lease, though the items are settled: as Lease would have failed.
  absl::Status lease_refusal{};
};

struct HeldLease {
  std::string lease_token{};
  // Unset keeps the last report.
  std::optional<TaskProgress> progress{};
};

struct HeartbeatCall {
  std::string worker_id{};
  // Moves the session's end to at least now + this. 1 s to 12 h. Unset: what the worker's last call
  // asked for.
  std::optional<absl::Duration> lease_duration{};
  // 0 to 1000 leases to ask for. All leases of the worker are renewed, named or not.
  std::vector<HeldLease> leases{};
  // The worker stops: ends its session and releases all its leases, uncharged, and those that a
  // cancelled Lease may have got. A repeat does no harm. A later Lease creates a new session.
  bool end_session = false;
  // Zero: ClientOptions::call_timeout.
  absl::Duration timeout{};
};

enum class LeaseState { kHeld, kLost, kCancelRequested };

struct HeartbeatAnswer {
  // One per lease of the call, in order.
  std::vector<LeaseState> states{};
  // False: the session is lost, and with it every lease. The next Lease creates a new one.
  bool session_alive = false;
  // How long the session lasts, counted from the moment the call was sent.
  absl::Duration lease_remaining{};
  WorkerCommand command = WorkerCommand::kRun;
};

}  // namespace skiplane
