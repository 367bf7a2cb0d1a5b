// Calls for reports, and their answers. `party`: as in LeaseCall.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "server/broker/api/calls.h"
#include "server/broker/api/error_calls.h"
#include "server/broker/api/permit.h"
#include "server/model/queue.h"
#include "server/model/report.h"

namespace skiplane::broker {

struct StatisticsCall {
  std::string queue;
  std::string stage;
  std::optional<model::AttemptOutcome> outcome;
  std::optional<absl::Time> start;  // unset: 24 hours ago
  std::optional<absl::Time> end;    // unset: now
  absl::Time after_hour = absl::InfinitePast();  // where it goes on: after these
  int16_t after_stage = 0;
  int16_t after_outcome = 0;
  std::string party{};
};

struct Statistics {
  model::Page<model::HourStatistics> hours;
  std::vector<std::string> stages;  // of each: its name
};

struct MinutesCall {
  std::string queue;
  std::string stage;
  absl::Time start;
  absl::Time end;
  absl::Duration step = absl::Minutes(1);
  std::optional<absl::Time> after;  // where it goes on: after this step and stage
  int16_t after_stage = 0;
  std::string party{};
};

struct MinutePage {
  model::Page<model::MinuteStatistics> minutes;
  std::vector<std::string> stages;               // of each: its name
  std::optional<model::MinuteStatistics> total;  // on the first page only
};

// Per second, in the mean of the last minute. Not below zero.
struct Rates {
  double enqueued = 0;   // tasks that are there, or ended: what is deleted counts against it
  double succeeded = 0;  // tasks
  double failed = 0;     // tasks; what is started again counts against it
};

// What the sampler saw of a queue.
struct QueueLook {
  Rates rates{};
  int64_t dead_letters = 0;
  absl::Duration oldest_ready_age{};
  absl::Duration oldest_attempt_age{};
};

// What operators see of a queue first.
struct QueueSummary {
  QueueWithCounts counted;  // without ages of stages
  QueueLook look{};
};

struct ListBrokersCall {
  std::string party{};
};

struct BrokerPage {
  std::vector<model::RunningBroker> brokers;
  model::SessionId own_id{};
};

struct ServerInfoCall {
  std::string party{};
};

struct TableSpace {
  std::string table;
  int64_t row_bytes = 0;
  int64_t toast_bytes = 0;
  int64_t index_bytes = 0;
  int64_t dead_rows = 0;
};

struct ServerReport {
  std::string version;
  std::string commit;
  std::string broker_name;
  absl::Time start_time;
  model::ServedDatabase database;
  int64_t database_bytes = 0;
  std::vector<TableSpace> tables;
  int connections = 0;
};

struct ListWorkersCall {
  std::string after_name;
  std::string after_handle;
  int limit = 0;
  std::string party{};
};

struct CommandWorkerCall {
  std::string handle;
  model::WorkerCommand command = model::WorkerCommand::kRun;
  model::Origin origin;
  std::string party{};
};

struct ListAuditCall {
  std::string queue;    // empty: any
  std::string task_id;  // empty: any
  std::string actor;    // empty: any
  absl::Time start = absl::InfinitePast();
  absl::Time end = absl::InfiniteFuture();
  int64_t before = INT64_MAX;
  int limit = 0;
  std::string party{};
};

struct AuditPage {
  model::Page<model::AuditRecord> records;
  std::optional<int64_t> before;  // where the next page begins
};

}  // namespace skiplane::broker
