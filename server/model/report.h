// What operators are told, as values.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "server/model/error_group.h"
#include "server/model/lease.h"
#include "server/model/minute.h"
#include "server/model/task.h"
#include "server/model/task_filter.h"

namespace skiplane::model {

// A part of a list.
template <typename Item>
struct Page {
  std::vector<Item> items;
  bool has_more = false;               // behind the last one
  int64_t bytes = 0;                   // about, of all of them on the wire
  std::shared_ptr<const void> memory;  // to be kept until its reader has got it
};

// How an attempt ended; the numbers are those of the database.
enum class AttemptOutcome : int16_t {
  kSucceeded = 1,
  kRetried = 2,
  kFailed = 3,
  kLost = 4,
  kCancelled = 5,
  kHanged = 7,
};

struct Attempt {
  int32_t attempt = 0;
  AttemptOutcome outcome = AttemptOutcome::kSucceeded;
  int16_t stage = 0;
  absl::Time schedule_time;
  std::optional<absl::Time> lease_time;  // unset: cancelled while it waited
  absl::Time end_time;
  std::string worker_name;
  std::optional<TaskError> error;
  bool ends_task = false;
  std::string payload;
  std::string result;
};

// Where a periodic task stands among all of them.
struct PlannedPlace {
  absl::Time time = absl::InfinitePast();
  TaskId id{};
};

struct HourStatistics {
  absl::Time start_time;
  int16_t stage = 0;
  AttemptOutcome outcome = AttemptOutcome::kSucceeded;
  int64_t attempts = 0;
  absl::Duration run_total;
  absl::Duration run_max;
  absl::Duration wait_total;
};

// Of a queue and stage, in one or several minutes.
struct MinuteStatistics {
  absl::Time start_time = absl::InfinitePast();  // so of a total
  int16_t stage = 0;
  MinuteTimes times{};
};

struct RunningBroker {
  SessionId id{};
  std::string name;
  std::string version;                   // empty of a broker before 0.2
  std::optional<absl::Time> start_time;  // unset: it ran before it could say so
  absl::Time expire_time;
  bool is_leader = false;
};

struct ServedDatabase {
  absl::Time now;
  std::string version;
  int32_t schema_version = 0;
};

struct Worker {
  std::string handle;
  std::string name;
  absl::Time create_time;
  absl::Time expire_time;
  int64_t leased = 0;
  absl::Duration lease_duration;
  std::vector<TaskId> tasks{};        // some of them
  std::vector<std::string> queues{};  // of these
  std::string client_version{};       // empty: it says nothing
  int32_t concurrency = 0;            // likewise 0
  WorkerCommand command = WorkerCommand::kRun;
};

// Of a change with a request id, which a repeat has again: hashes, so that the id itself is known
// to nobody but its caller.
struct RequestHash {
  std::string id;    // of the request id
  std::string body;  // of the method and of the request without its id
};

// Who asks for a change, and with what, for the audit.
struct Origin {
  std::string actor;
  std::string method;
  std::string request_json;  // without the request id
  std::string claimed_actor{};  // what the caller said of itself
  std::string caller{};         // the name in the caller's certificate, else its address
  std::optional<RequestHash> request{};
};

struct AuditRecord {
  int64_t id = 0;
  absl::Time create_time;
  Origin origin;
  std::string queue;
  int64_t changed = 0;
};

enum class BulkOperationState : int16_t { kRunning = 1, kDone = 2, kStopped = 3 };

struct BulkOperation {
  SessionId id{};
  TaskFilter filter;
  TaskChange change;
  bool dry_run = false;
  BulkOperationState state = BulkOperationState::kRunning;
  int64_t scanned = 0;
  int64_t matched = 0;
  int64_t changed = 0;
  int64_t total = 0;
  std::string actor;
  absl::Time create_time;
  absl::Time update_time;
};

}  // namespace skiplane::model
