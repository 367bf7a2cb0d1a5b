// What rpc asks of the broker, and the answers: values without gRPC. rpc has checked every field
// against model/limits.h before it builds one of these.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/base/timer.h"
#include "server/broker/api/heartbeat_call.h"
#include "server/broker/api/permit.h"
#include "server/model/lease.h"
#include "server/model/queue.h"
#include "server/model/report.h"
#include "server/model/task.h"

namespace skiplane::broker {

// Called exactly once, on a thread of the broker: it must not block.
template <typename Answer>
using Callback = absl::AnyInvocable<void(absl::StatusOr<Answer>)>;

using QueuePtr = std::shared_ptr<const model::Queue>;

struct EnqueueCall {
  std::string queue;  // of all tasks; of several queues: of those that name none
  std::vector<model::NewTask> tasks;
  std::string request_id;             // empty: none
  const char* queue_field = "queue";  // where `queue` was named
  bool has_several_queues = false;    // else no task names one
  std::string principal{};            // who calls; empty: nobody has to prove it
  std::string party{};                // as in LeaseCall
};

using model::EnqueueResult;

inline constexpr absl::Duration kLastLookMax = absl::Milliseconds(300);

struct LeaseQueue {
  std::string name;
  int weight = 1;
  std::string stage;  // empty: any, later ones first
  int max_tasks = 0;  // 0: as many as the call takes
};

struct LeaseCall {
  std::vector<LeaseQueue> queues;
  bool strict_order = false;
  std::string principal;  // who calls; empty: nobody has to prove it
  std::string party{};    // the principal or, where nobody has to prove it, the connection
  std::string worker_id;  // empty: a session of its own
  std::string worker_name;
  std::string client_version{};  // empty, or 0: the session keeps what it has
  int32_t concurrency = 0;
  int max_tasks = 1;
  int64_t max_bytes = 0;
  absl::Duration wait;                           // already cut to end before the call's deadline
  // What the last look of a call with a request id may take after its wait, within the deadline.
  absl::Duration last_look = kLastLookMax;
  std::optional<absl::Duration> lease_duration;  // unset: the first queue's
  std::string request_id;                        // empty: none
  // Whether it moves the end of the worker's session; else it leases only while that lives, and is
  // answered empty once it does not.
  bool moves_session = true;
  // When it came in: a worker's session that was ended after that is not made anew for it.
  base::SteadyTime began = std::chrono::steady_clock::now();
};

struct LeaseAnswer {
  std::vector<model::LeasedTask> tasks;
  absl::Duration lease_remaining;
  std::vector<std::string> paused_queues;
  // As of the last statement that read the worker's session, which is no older than a second.
  model::WorkerCommand command = model::WorkerCommand::kRun;
  std::shared_ptr<const void> memory;  // to be kept until the caller has read the answer
};

struct SettleAndLeaseCall {
  std::vector<model::SettleItem> items;
  LeaseCall lease;
};

struct SettleAndLeaseAnswer {
  std::vector<model::SettleResult> results;
  std::optional<LeaseAnswer> lease;
  absl::Status lease_refusal;  // why there is none, though the items are settled
};

struct CreateQueueCall {
  std::string name;
  // Not set: the defaults, and any that an existing queue has are fine.
  std::optional<model::QueueSettings> settings;
  std::optional<int> lane_count;
  model::Origin origin;
  std::string principal{};  // who calls; empty: nobody has to prove it
  std::string party{};      // as in LeaseCall
};

struct UpdateQueueCall {
  std::string name;
  // Given the settings in force, returns the new ones, or a refusal. Called once or more.
  absl::AnyInvocable<absl::StatusOr<model::QueueSettings>(const model::QueueSettings&)> change;
  std::optional<int64_t> version;  // if set: only when the queue still has it, else ETAG_MISMATCH
  model::Origin origin;
  std::string party{};  // as in LeaseCall
};

struct PauseQueueCall {
  std::string name;
  model::PauseMode mode = model::PauseMode::kLease;  // kNone resumes
  std::string reason;
  model::Origin origin;
  std::string party{};  // as in LeaseCall
};

struct GetQueueCall {
  std::string name;
  std::string party{};  // as in LeaseCall
};

struct ListQueuesCall {
  std::string after;  // only names greater than this
  int limit = 0;
  Permit permit{};  // queues that it refuses are left out
  std::string party{};  // as in LeaseCall
};

struct StageReport {
  model::QueueCounts counts;
  absl::Duration oldest_ready_age;
};

struct QueueWithCounts {
  model::Queue queue;
  model::QueueCounts counts;
  std::vector<StageReport> stages;  // one per stage; empty in a queue without stages
};

}  // namespace skiplane::broker
